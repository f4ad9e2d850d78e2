"""Split games on a Ray cluster of several nodes on one machine: the bits of threads, come what may.

One cluster serves all tests. Its head has no cores, so that every node with cores may be killed.
"""

import contextlib
import os
import random
import shutil
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.bots.open import open_strategy
from equilibrist.cluster import connection
from equilibrist.cluster.engine import RayEngine, RayEngines
from equilibrist.cluster.flops import RayFlops
from equilibrist.errors import InvalidValueError, NetworkError, StorageError
from equilibrist.evaluation.real_game.run import exploited, open_or_start, responses_to, run_flops
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.models.exact import exact_game
from equilibrist.models.split import Split
from equilibrist.solving.cfr import CFR_PLUS
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.split_plan import SplitPlan
from equilibrist.solving.split_run import SplitRun, SplitSettings
from split_runs import assert_same, go_on

with contextlib.suppress(InvalidValueError):
    connection.load_ray()
ray = pytest.importorskip("ray")
os.makedirs(os.path.join(tempfile.gettempdir(), "ray"), exist_ok=True)  # Ray expects it
pytestmark = [  # Ray's own
    pytest.mark.filterwarnings("ignore:::ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

LEDUC = get_game("leduc")
RHODE = replace(
    get_game("rhode-island"), name="rhode", num_ranks=3, num_suits=2, max_raises=(2, 1, 1)
)
NINE_CARDS = replace(
    get_game("holdem-limit"), name="nine", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)
)
ONE = RayEngines(threads=1)


class Nodes:
    """The nodes of the cluster that have cores."""

    def __init__(self, cluster):
        self.cluster = cluster

    def have(self, number):
        """Add or remove nodes until there are so many."""
        while len(self.cluster.worker_nodes) < number:
            self.add()
        while len(self.cluster.worker_nodes) > number:
            self.lose(next(iter(self.cluster.worker_nodes)))
        self._wait(number)

    def add(self):
        patiently(self.cluster.add_node, num_cpus=1, object_store_memory=80_000_000)

    def lose(self, node):
        self.cluster.remove_node(node, allow_graceful=False)

    def of(self, engine, worker):
        """Return the node on which a worker is."""
        place = engine._places[worker]
        return next(node for node in self.cluster.worker_nodes if node.node_id == place)

    def _wait(self, number):
        until = time.monotonic() + 60
        while len(connection.nodes()) != number and time.monotonic() < until:
            time.sleep(0.05)
        assert len(connection.nodes()) == number


def patiently(start, **options):
    """Call a function of Ray that starts processes and waits half a minute for them.

    The handler of SIGTERM that Ray leaves is taken away again.
    """
    handler = signal.getsignal(signal.SIGTERM)
    for _ in range(3):
        try:
            return start(**options)
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
        finally:
            signal.signal(signal.SIGTERM, handler)
    return pytest.skip("the machine is too busy to start Ray within half a minute")


@pytest.fixture(scope="module")
def nodes():
    from ray.cluster_utils import Cluster

    scratch = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    config = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    config |= {"health_check_timeout_ms": 20_000, "health_check_failure_threshold": 3}
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80_000_000}
    head |= {"_system_config": config, "temp_dir": scratch}
    cluster = patiently(Cluster, initialize_head=True, head_node_args=head)
    try:
        found = Nodes(cluster)
        found.add()
        with connection.connected(cluster.address):
            yield found
    finally:
        cluster.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)


def by_threads(rules, settings, iterations):
    split = Split.of(rules, settings.after)
    solver = DecomposedCFR.of(split, bits=settings.bits, current=settings.current)
    return solve(split.trunk, solver, Budget(iterations=iterations))


@contextlib.contextmanager
def in_memory(rules, settings):
    """A solver on the cluster, with tables in the memory of its nodes."""
    split = Split.of(rules, settings.after)
    with contextlib.closing(ONE.in_memory(split, settings.bits)) as engine:
        yield DecomposedCFR(split, engine, CFR_PLUS, settings.bits, settings.current)


CASES = [
    (LEDUC, SplitSettings("preflop")),
    (RHODE, SplitSettings("flop", bits=16)),
    (RHODE, SplitSettings("preflop", current=True)),
]


def kill_within(engine, worker, order, reaches):
    """Kill a worker's process while it sweeps."""
    actor = engine._actor(worker, order.done)
    process = ray.get(actor.__ray_call__.remote(lambda self: os.getpid()))
    actor.sweep.remote(order, np.ascontiguousarray(reaches[:, engine._slices[worker]]))
    os.kill(process, signal.SIGKILL)


class StoppedError(Exception):
    """Stands for the end of the driver."""


def stop(engine, worker, order, reaches):
    raise StoppedError


@pytest.fixture
def disturb(monkeypatch):
    """A function that lets another one act before a worker sweeps half an iteration, once."""
    swept, left = RayEngine._swept, {}

    def disturbed(self, worker, order, reaches):
        act = left.pop((worker, order.epoch), None)
        if act is not None:
            act(self, worker, order, reaches)
        return swept(self, worker, order, reaches)

    monkeypatch.setattr(RayEngine, "_swept", disturbed)
    return lambda worker, epoch, act: left.update({(worker, epoch): act})


def test_a_game_in_memory_has_the_bits_of_threads_though_a_worker_is_killed(nodes, disturb):
    nodes.have(2)
    settings = SplitSettings("preflop")
    disturb(1, 4, kill_within)
    with in_memory(LEDUC, settings) as solver:
        found = solve(solver.split.trunk, solver, Budget(iterations=3))
        engine = solver.engine
        assert (len(engine.ranges), engine.losses) == (2, 1)
        assert len(set(engine._places.values())) == 2
        assert_same(found, by_threads(LEDUC, settings, 3))
        before = engine.bytes_sent + engine.bytes_received
        evaluation = found.evaluation
        solver.step(solver.split.trunk, found.state, 1)
        crossed = engine.bytes_sent + engine.bytes_received - before
        assert crossed == SplitPlan.of(LEDUC, "preflop", bits=64).network_bytes
    whole = TableCFR(CFR_PLUS, bits=64)
    expected = solve(exact_game(LEDUC, leaves="sorted"), whole, Budget(iterations=3)).evaluation
    assert evaluation.value == pytest.approx(expected.value, abs=1e-12)
    assert evaluation.best_response == pytest.approx(expected.best_response, abs=1e-12)


def test_a_game_on_disks_has_the_bits_of_threads_though_driver_node_and_tables_are_lost(
    nodes, tmp_path, disturb
):
    nodes.have(2)
    settings, folder = SplitSettings("flop"), tmp_path / "run"
    stored = SplitRun.begin(folder, Split.of(RHODE, "flop"), settings, make_engine=ONE.on_disks)
    disturb(1, 4, stop)
    with pytest.raises(StoppedError):
        go_on(stored, 5)
    stored.engine.close()
    for path in sorted((folder / "subgames").iterdir())[3:17:3]:
        path.unlink()

    def lose(engine, worker, order, reaches):
        """Remove the node of a worker, and its tables."""
        for subgame in engine.ranges[worker]:
            for half in (0, 1):
                (folder / "subgames" / f"{subgame:06d}-{half}.tables").unlink()
        nodes.lose(nodes.of(engine, worker))

    disturb(0, 7, lose)
    again = SplitRun.open(folder, for_resume=True, make_engine=ONE.on_disks)
    assert int(again.run().state["iteration"]) == 2
    with contextlib.closing(again.engine) as engine:
        expected = by_threads(RHODE, settings, 5)
        assert_same(go_on(again, 5), expected)
        assert engine.losses >= 1
        assert len(set(engine._places.values())) == 1
    assert SplitRun.open(folder).run().evaluation == expected.evaluation


def test_flops_of_the_real_game_are_those_of_threads_though_a_worker_is_killed(
    nodes,
):
    nodes.have(2)
    named = open_strategy("mix:0.1,0.6,0.3", NINE_CARDS)
    responses = responses_to(named)
    runs = [open_or_start(named, responses, None) for _ in range(2)]
    chosen = np.arange(len(runs[0].flops.boards))
    run_flops(runs[0], responses, chosen)

    with contextlib.closing(RayFlops(responses[0].strategy, 1)) as engine:

        def kill_once(run):
            """End a worker's process after the first flop."""
            if run.is_done.sum() == 1:
                actor = next(iter(engine._actors.values()))
                process = ray.get(actor.__ray_call__.remote(lambda self: os.getpid()))
                os.kill(process, signal.SIGKILL)

        run_flops(runs[1], responses, chosen, engine=engine, report=kill_once)
        assert engine.losses == 1
    for ours, theirs in zip(runs[0].values, runs[1].values, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert exploited(runs[0], responses) == exploited(runs[1], responses)


def test_the_plan_counts_the_numbers_that_cross_the_network():
    plan, split = SplitPlan.of(RHODE, "flop", bits=32), Split.of(RHODE, "flop")
    assert plan.root_states == split.start[-1]
    assert plan.network_bytes == 2 * 2 * 4 * split.start[-1]  # halves; reaches and values; float32


@pytest.mark.slow
def test_tables_that_cannot_be_computed_again_are_named(nodes, tmp_path):
    nodes.have(1)
    settings, folder = SplitSettings("preflop"), tmp_path / "run"
    stored = SplitRun.begin(folder, Split.of(LEDUC, "preflop"), settings, None, ONE.on_disks)
    go_on(stored, 2)
    stored.engine.close()
    kept = folder / "reaches" / "00000003.tables"
    content = kept.read_bytes()
    (folder / "subgames" / "000004-1.tables").unlink()
    kept.unlink()

    def evaluate():
        found = SplitRun.open(folder, make_engine=ONE.on_disks)
        with contextlib.closing(found.engine):
            return found.solver.evaluate(found.split.trunk, found.run().state)

    with pytest.raises(StorageError, match=r"00000003\.tables, from which .* is missing"):
        evaluate()
    kept.write_bytes(content)
    assert evaluate() == stored.run().evaluation
    other = SplitRun.begin(tmp_path / "other", stored.split, settings)
    go_on(other, 1)
    shutil.copy(tmp_path / "other" / "subgames" / "000002-0.tables", folder / "subgames")
    with pytest.raises(StorageError, match=r"000002-0\.tables is of another run"):
        evaluate()


@pytest.mark.slow
def test_a_worker_that_is_always_lost_ends_the_run(nodes, monkeypatch):
    nodes.have(1)

    def lost(self, worker, order, reaches):
        raise ray.exceptions.RayActorError

    monkeypatch.setattr(RayEngine, "_swept", lost)
    with (
        in_memory(LEDUC, SplitSettings("preflop")) as solver,
        pytest.raises(NetworkError, match="subgames 0 to 14 were lost 5 times one after another"),
    ):
        solver.step(solver.split.trunk, solver.init(solver.split.trunk), 1)


@pytest.mark.slow
def test_tables_that_do_not_fit_on_a_node_are_refused_before_anything_is_written(nodes, tmp_path):
    nodes.have(1)
    engines, split = RayEngines(threads=1, table_bytes=10**17), Split.of(LEDUC, "preflop")
    with pytest.raises(InvalidValueError, match=r"node .* needs in memory 93,.* GiB"):
        engines.in_memory(split, 64)
    settings = SplitSettings("preflop")
    with pytest.raises(InvalidValueError, match=r"node .* needs on the disk 93,.* GiB"):
        SplitRun.begin(tmp_path / "run", split, settings, make_engine=engines.on_disks)
    assert not list(tmp_path.iterdir())


def test_nodes_with_another_version_are_refused(nodes, monkeypatch):
    nodes.have(1)
    connection.check_versions()
    monkeypatch.setattr(connection, "own_version", lambda: "9.9")
    with pytest.raises(NetworkError, match=r"has the version 0\..* of equilibrist .* machine 9\.9"):
        connection.check_versions()


@pytest.mark.slow
def test_the_command_solves_on_the_cluster(nodes, tmp_path, answer):
    nodes.have(1)
    game, folder = ("solve", "leduc", "--split", "preflop", "--iterations"), tmp_path / "run"
    found = answer(*game, "2", "--engine", "ray", "--threads", "1", "--store", folder)
    assert found["exploitability"] == answer(*game, "2")["exploitability"]
    expected = answer(*game, "3")
    again = answer(*game, "3", "--store", folder, "--resume")
    assert again["exploitability"] == expected["exploitability"]


@pytest.mark.slow
def test_the_command_exploits_and_continues_on_the_cluster(nodes, tmp_path, answer):
    nodes.have(2)
    game, folder = ("solve", "leduc", "--split", "preflop", "--iterations"), tmp_path / "run"
    on_nodes = ("--engine", "ray", "--threads", "1")
    expected = answer(*game, "3")
    assert answer(*game, "3", *on_nodes)["exploitability"] == expected["exploitability"]
    answer(*game, "2", *on_nodes, "--store", folder)
    found = answer(*game, "3", *on_nodes, "--store", folder, "--resume")
    assert found["exploitability"] == expected["exploitability"]
    assert answer("exploit", folder, *on_nodes)["matches"] is True
    assert answer("exploit", folder)["matches"] is True


@pytest.mark.slow
def test_the_command_exploits_in_the_real_game_on_the_cluster(nodes, tmp_path, answer):
    nodes.have(2)
    path = tmp_path / "nine.game"
    path.write_text(rules_text(NINE_CARDS))
    game = ("exploit", "mix:0.1,0.6,0.3", "--real-game", "--game", path, "--threads", "1")
    expected, found = answer(*game), answer(*game, "--engine", "ray")
    assert found | {"seconds": 0} == expected | {"seconds": 0}
    assert found["flops"] == found["all_flops"] > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_random_kills_change_no_bit(nodes, tmp_path, seed):
    draw = random.Random(seed)
    nodes.have(2)
    settings = SplitSettings(draw.choice(("preflop", "flop")))
    stored = SplitRun.begin(
        tmp_path / "r", Split.of(RHODE, settings.after), settings, None, ONE.on_disks
    )
    engine = stored.engine

    def kill():
        worker = draw.choice((0, 1))
        if draw.random() < 0.2 and len(nodes.cluster.worker_nodes) > 1:
            nodes.lose(draw.choice(list(nodes.cluster.worker_nodes)))
            nodes.add()
            return
        with contextlib.suppress(KeyError, ray.exceptions.RayError):
            actor = engine._actors[worker]
            process = ray.get(actor.__ray_call__.remote(lambda self: os.getpid()), timeout=1)
            os.kill(process, signal.SIGKILL)

    with ThreadPoolExecutor(1) as pool:  # Ray adds nodes in the main thread only
        run = pool.submit(go_on, stored, 8)
        for _ in range(4):  # a worker that is lost five times one after another ends the run
            time.sleep(draw.uniform(0, 0.6))
            if not run.done():
                kill()
        found = run.result()
    engine.close()
    assert_same(found, by_threads(RHODE, settings, 8))


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("rules", "settings"), CASES, ids=["leduc", "16-bits", "current"])
def test_nodes_have_the_bits_of_threads(nodes, tmp_path, rules, settings, number):
    nodes.have(number)
    expected = by_threads(rules, settings, 4)
    with in_memory(rules, settings) as solver:
        assert_same(solve(solver.split.trunk, solver, Budget(iterations=4)), expected)
        assert len(solver.engine.ranges) == number
    split = Split.of(rules, settings.after)
    stored = SplitRun.begin(tmp_path / "run", split, settings, make_engine=ONE.on_disks)
    go_on(stored, 2)
    stored.engine.close()
    again = SplitRun.open(tmp_path / "run", make_engine=ONE.on_disks)
    assert_same(go_on(again, 4), expected)
    again.engine.close()
    assert_same(go_on(SplitRun.open(tmp_path / "run"), 4), expected)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_killed_workers_change_no_bit(nodes, tmp_path, disturb, where):
    nodes.have(2)
    settings = SplitSettings("flop")
    for worker, epoch in ((0, 1), (1, 4), (0, 7)):
        disturb(worker, epoch, kill_within)
    with in_memory(RHODE, settings) as solver:
        if where == "disk":
            stored = SplitRun.begin(tmp_path / "r", solver.split, settings, None, ONE.on_disks)
            solver = stored.solver
        found = solve(solver.split.trunk, solver, Budget(iterations=4))
        assert solver.engine.losses == 3
        solver.engine.close()
    assert_same(found, by_threads(RHODE, settings, 4))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_node_that_is_lost_with_its_disk_is_replaced(nodes, tmp_path, disturb, where):
    nodes.have(2)
    settings = SplitSettings("flop")

    def lose(engine, worker, order, reaches):
        for subgame in engine.ranges[worker] if where == "disk" else ():
            for half in (0, 1):
                (engine.job.folder / f"{subgame:06d}-{half}.tables").unlink(missing_ok=True)
        nodes.lose(nodes.of(engine, worker))

    disturb(1, 6, lose)
    with in_memory(RHODE, settings) as solver:
        if where == "disk":
            stored = SplitRun.begin(tmp_path / "r", solver.split, settings, None, ONE.on_disks)
            solver = stored.solver
        found = solve(solver.split.trunk, solver, Budget(iterations=4))
        assert solver.engine.losses >= 1
        assert len(set(solver.engine._places.values())) == 1
        solver.engine.close()
    assert_same(found, by_threads(RHODE, settings, 4))
