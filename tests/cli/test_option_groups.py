"""Groups of options: each field is a flag, and the command receives the group."""

from typing import Annotated, NamedTuple

import typer
from typer.testing import CliRunner

from equilibrist.cli.option_groups import with_groups


class Limits(NamedTuple):
    iterations: Annotated[int | None, typer.Option(help="At most.")] = None
    is_quick: Annotated[bool, typer.Option("--quick")] = False


def test_a_command_receives_its_groups():
    seen = []

    @with_groups
    def solve(*, game: Annotated[str, typer.Argument()], limits: Limits, loud: bool = False):
        """Solve something."""
        seen.append((game, limits, loud))

    app = typer.Typer()
    app.command()(solve)
    assert CliRunner().invoke(app, ["kuhn", "--iterations", "3", "--quick"]).exit_code == 0
    assert CliRunner().invoke(app, ["leduc", "--loud"]).exit_code == 0
    assert seen == [("kuhn", Limits(3, True), False), ("leduc", Limits(), True)]
    assert CliRunner().invoke(app, ["kuhn", "--limits", "1"]).exit_code == 2
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert "Solve something." in text
    assert "At most." in text
