import sys

from papers.ginger import main

sys.exit(main())
