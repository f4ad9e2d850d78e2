import pytest

from equilibrist.errors import DeviceError, InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu import device
from equilibrist.solving import forecast
from equilibrist.solving.devices import Chosen, check_runs_on_gpu, choose_device
from equilibrist.solving.forecast import bucket_forecast
from equilibrist.solving.methods import METHODS
from equilibrist.solving.problem import Problem

GS3 = (20, 800, 4800, 28800)


@pytest.fixture
def a_gpu(monkeypatch):
    monkeypatch.setattr(device, "cuda", lambda: None)
    monkeypatch.setattr(device, "cupy", lambda: None)


@pytest.fixture
def no_gpu(monkeypatch):
    def cuda():
        raise DeviceError("no GPU can be used: there is none")

    monkeypatch.setattr(device, "cuda", cuda)


def refuse():
    raise InvalidValueError("it is too large")


def test_the_cpu_needs_no_check():
    assert choose_device("cpu", refuse) == Chosen("cpu")


def test_the_gpu_is_used_if_there_is_one(a_gpu):
    assert choose_device("gpu", lambda: None) == choose_device("auto", lambda: None)
    assert choose_device("auto", lambda: None) == Chosen("gpu")


def test_without_a_gpu_auto_says_why_it_takes_the_cpu(no_gpu):
    chosen = choose_device("auto", lambda: None)
    assert chosen.text == "computing on the CPU: no GPU can be used: there is none"
    with pytest.raises(DeviceError, match="there is none; or use the device cpu"):
        choose_device("gpu", lambda: None)


def test_work_that_a_gpu_refuses_falls_back_on_request_only(a_gpu):
    assert choose_device("auto", refuse) == Chosen("cpu", "it is too large")
    with pytest.raises(InvalidValueError, match="it is too large"):
        choose_device("gpu", refuse)


def test_other_devices_are_refused():
    with pytest.raises(InvalidValueError, match="must be auto, cpu or gpu, not 'tpu'"):
        choose_device("tpu", lambda: None)


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_whether_they_use_a_gpu(name):
    solver = METHODS[name].load()
    if ("cfr" in name and name != "mccfr") or name == "egt":
        check_runs_on_gpu(solver)
    else:
        with pytest.raises(InvalidValueError, match="computes on the CPU only"):
            check_runs_on_gpu(solver)


def test_an_exact_game_is_refused_by_the_gpu():
    problem = Problem.exact(get_game("leduc"))
    with pytest.raises(InvalidValueError, match="leduc is solved on the CPU"):
        problem.check_gpu(METHODS["cfr+"].load(), "float64")


def test_a_game_too_large_for_the_gpu_is_refused_with_what_would_fit(monkeypatch):
    monkeypatch.setattr(forecast, "free_bytes", lambda: 8 << 30)
    betting = BettingTree.build(get_game("holdem-limit"), BetMenu.parse(None, None, "3 3 3 3"))
    needed = bucket_forecast(betting, GS3, device="gpu")
    assert needed.bytes > 8 << 30
    assert 0 < needed.fitting[-1] < GS3[-1]
    assert bucket_forecast(betting, needed.fitting, device="gpu").bytes <= 8 << 30
    with pytest.raises(InvalidValueError, match=r"on the GPU 18\.\d GiB and 8\.0 GiB are free; .*"):
        needed.check("gs3")
