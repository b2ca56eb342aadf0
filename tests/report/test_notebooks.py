"""A report, a ranking and a tree in notebooks: all that is to be read is there where no script runs."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from report.test_html import Page

CELLS = {
    "table": "import offsample\nfrom offsample.datasets import make_customers\ntable = make_customers(300)",
    "report": "offsample.report(table, 'churned', fast=True, max_size=4)",
    "ranking": "offsample.rank_features(table, 'churned')",
    "tree": "offsample.TreeClassifier(max_splits=2).fit({'plan': table['plan']}, table['churned'])",
}
SAID = {
    "report": ("Columns", "exit_survey_sent", "What it looks at", "The model, to take with you"),
    "ranking": ("exit_survey_sent", "tenure_months"),
    "tree": ("TreeClassifier", "max_splits"),
}


def read_without_script(html, words):
    """Words that a reader sees where scripts are dropped, and nothing is in a template."""
    inside = Page(html).attributes("srcdoc")  # as marimo shows what has a script
    page = Page(re.sub("<script.*?</script>", "", *(inside or [html]), flags=re.DOTALL))
    assert page.errors == []
    assert "template" not in {tag for tag, _ in page.elements}
    for word in words:
        assert word in "".join(page.text)


def needs(*packages):
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def test_jupyter(tmp_path, monkeypatch):
    needs("nbclient", "ipykernel", "nbformat")
    import nbclient
    from nbformat import v4

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    folder = tmp_path / "kernels" / "ours"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(f'{{"argv": {kernel}, "display_name": "ours"}}'.replace("'", '"'))
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in CELLS.values()])
    nbclient.NotebookClient(notebook, kernel_name="ours", timeout=300).execute()
    for name, cell in zip(CELLS, notebook.cells, strict=True):
        if name != "table":
            (output,) = cell.outputs
            read_without_script(output.data["text/html"], SAID[name])
            assert output.data["text/plain"]


def test_marimo(tmp_path):
    needs("marimo")
    blocks = "".join(
        f"\n@app.cell\ndef _({'offsample, table' if name != 'table' else ''}):\n"
        + "".join(f"    {line}\n" for line in source.splitlines())
        + ("    return offsample, table\n" if name == "table" else "    return\n")
        for name, source in CELLS.items()
    )
    (tmp_path / "book.py").write_text(
        f"import marimo\napp = marimo.App()\n{blocks}\nif __name__ == '__main__':\n    app.run()\n"
    )
    command = [
        sys.executable,
        "-m",
        "marimo",
        "export",
        "ipynb",
        "--include-outputs",
        "book.py",
        "-o",
        "book.ipynb",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    import json

    cells = json.loads((tmp_path / "book.ipynb").read_text(encoding="utf-8"))["cells"]
    for name, cell in zip(CELLS, cells, strict=True):
        if name != "table":
            html = "".join("".join(one["data"]["text/html"]) for one in cell["outputs"])
            read_without_script(html, SAID[name])
