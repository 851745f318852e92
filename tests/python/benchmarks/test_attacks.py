"""Test the attacks of the benchmark: the fast ones are made once, and the table lists those that break something."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import attacks as module
from benchmarks.attacks import Attack, all_attacks, outcomes, run

SEED = 7
ALL = all_attacks()


SHORT = [attack for attack in ALL if attack.in_suite]


@pytest.mark.parametrize("attack", SHORT, ids=[f"{attack.item}: {attack.name}" for attack in SHORT])
def test_holds(attack: Attack) -> None:
    [outcome] = outcomes([attack], times=1, seed=SEED)
    assert outcome.broken == ()


def test_every_attack_has_a_name_of_its_own() -> None:
    names = [attack.name for attack in ALL]
    assert sorted(set(names)) == sorted(names)


class TestTable:
    def leave(self, seed: int, folder: Path) -> str | None:
        """Breaks with every fourth seed, and finds each folder empty."""
        assert list(folder.iterdir()) == []
        (folder / "left.txt").write_text("here")
        return "the door was open" if seed % 4 == 0 else None

    def fall(self, _seed: int, _folder: Path) -> str | None:
        raise OSError("no more method")

    def test_says_how_often_each_held_what_broke_and_what_crashed(self, monkeypatch, capsys) -> None:
        made = [
            Attack("2", "left by the door", "escapes", 8, "left", self.leave),
            Attack("3", "filled the disk", "faults", 3, "fell", self.fall),
        ]
        monkeypatch.setattr(module, "all_attacks", lambda: made)
        assert not run(seed=0)
        printed = capsys.readouterr().out
        assert "| 2 | escapes | left by the door | left | 8 | 6 |" in printed
        assert "| 3 | faults | filled the disk | fell | 3 | 0 |" in printed
        assert "Held: faults 0 of 3, escapes 6 of 8, in " in printed
        assert printed.count("Broke: left by the door: the door was open") == 1
        assert "Broke: filled the disk: it ended with OSError: no more method" in printed
        assert run(times=3, seed=1, only="door")
        assert "| 3 | 3 |" in capsys.readouterr().out

    def test_a_kind_that_is_none_and_no_time_at_all_are_refused(self) -> None:
        with pytest.raises(ValueError, match="kind storms is none of kills, faults"):
            Attack("2", "left", "storms", 1, "", self.leave)
        with pytest.raises(ValueError, match="times is 0"):
            Attack("2", "left", "escapes", 0, "", self.leave)
