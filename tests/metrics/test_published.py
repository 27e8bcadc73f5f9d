import pytest

from video_reasoning.metrics.published import BENCHMARKS, published


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_tables_are_whole(benchmark):
    content = published(benchmark)
    assert content.benchmark == benchmark
    assert content.paper
    for name, table in content.tables.items():
        assert table.source.startswith(("Table ", "Figure ")), name
        assert table.unit in ("percent", "x100", "mixed")
        assert len(set(table.columns)) == len(table.columns)
        assert len(table.counts) in (0, len(table.columns))
        assert table.unit != "mixed" or table.note
        for model, values in table.rows.items():
            assert len(values) == len(table.columns), (name, model)
            assert all(value is None or -100 <= value <= 100 for value in values), (name, model)


def test_single_values():
    blackswan = published("blackswan").tables
    assert blackswan["accuracy"].value("GPT-4o", "detective_mcq") == 65.1
    assert blackswan["accuracy"].count("detective_mcq") == 2415
    assert blackswan["gen_test"].count("reporter_clip") is None
    assert published("causalvqa").tables["paired"].value("Human", "all") == 84.78
    # The one value that the paper leaves out.
    order = published("tvbench").tables["frame_order_sensitivity"]
    assert order.value("Qwen2-VL-72B", "ReXTime/tau") is None


def test_what_is_not_there_is_named():
    with pytest.raises(ValueError, match="no published numbers for 'mvbench'"):
        published("mvbench")
    table = published("tvbench").tables["accuracy"]
    with pytest.raises(KeyError, match="no model 'GPT-9'; it has Human"):
        table.value("GPT-9", "all")
    with pytest.raises(KeyError, match="no column 'speed'; it has rotation"):
        table.value("GPT-4o", "speed")
