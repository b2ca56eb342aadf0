from papers.tuning_optimism import thesis


def test_examples_of_the_thesis_are_recomputed():
    printed = thesis()
    lines = {line.split("  ")[0]: line for line in printed.splitlines()}
    assert "0.9066" in lines["Landsat, c = 60, 6 extra"]
    assert "0.9357" in lines["the same, every fold of 55 rows with 12 hits"]
    assert "60 labels, 150.0 bits, 360 trials" in lines["Landsat"]
    assert "14979" in printed
