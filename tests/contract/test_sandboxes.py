"""Every built-in sandbox backend keeps the promises of the contract, but for the gaps listed here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from adjudge import catalog
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.process import ProcessBackend
from adjudge.testing.sandbox.suite import CHECKS, SandboxConformance

_NO_ISOLATION = "commands run as the caller, in the host's namespaces"

_PROCESS_GAPS = dict.fromkeys(
    (
        "workspace_is_at_its_place",
        "mounts_stay_read_only",
        "shared_memory_cannot_fill_the_machine",
        "host_files_cannot_be_read",
        "symlinks_in_the_source_lead_nowhere",
        "host_files_cannot_be_read_through_proc",
        "host_files_cannot_be_changed",
        "shared_places_of_the_host_are_not_visible",
        "what_is_written_to_shared_places_stays_inside",
        "hard_links_reach_nothing",
        "nested_namespaces_uncover_nothing",
        "namespaces_of_the_host_cannot_be_joined",
        "host_processes_are_not_visible",
        "host_processes_cannot_be_signalled",
        "host_processes_cannot_be_read",
        "keys_of_the_supervisor_stay_outside",
        "shared_memory_of_the_host_is_out_of_reach",
        "loopback_of_the_host_is_out_of_reach",
        "servers_of_the_host_are_out_of_reach",
        "egress_keeps_away_from_the_hosts_loopback",
        "abstract_sockets_of_the_host_are_out_of_reach",
        "unix_sockets_of_the_host_are_out_of_reach",
        "there_is_no_network",
        "sandboxes_do_not_see_each_other",
    ),
    _NO_ISOLATION,
)

_PROCESS_GAPS_OF_ROOT = dict.fromkeys(
    (
        "commands_do_not_run_as_root",
        "capabilities_are_gone",
        "planted_setuid_programs_gain_nothing",
        "setuid_programs_gain_nothing",
        "nothing_can_be_mounted",
        "device_nodes_cannot_be_made",
        "devices_of_the_host_cannot_be_opened",
        "kernel_settings_cannot_be_changed",
        "control_groups_cannot_be_changed",
        "priority_cannot_be_raised",
        "system_directories_cannot_be_written",
        "secrets_of_the_system_cannot_be_read",
        "file_handles_open_nothing",
    ),
    "commands run as the caller, who is root",
)


def _process_gaps() -> dict[str, str]:
    gaps = dict(_PROCESS_GAPS)
    if os.geteuid() == 0:
        gaps |= _PROCESS_GAPS_OF_ROOT
    restricted = Path("/proc/sys/kernel/dmesg_restrict")
    if os.geteuid() == 0 or (restricted.exists() and restricted.read_text().strip() == "0"):
        gaps["kernel_log_cannot_be_opened"] = "this machine lets the caller read the kernel's log"
    return gaps


@pytest.mark.bwrap
class TestBubblewrap(SandboxConformance):
    backend = BubblewrapBackend()
    gaps: ClassVar[Mapping[str, str]] = {
        "exit_codes_of_commands_are_not_ours": "bwrap tells a death by signal N as exit 128 + N, so one "
        "that exits with such a code by itself is taken for one that a signal ended",
    }


class TestProcess(SandboxConformance):
    backend = ProcessBackend()
    gaps: ClassVar[Mapping[str, str]] = _process_gaps()


def test_every_built_in_backend_is_covered() -> None:
    covered = {TestBubblewrap.backend.name, TestProcess.backend.name}
    assert covered == set(catalog.BUILTINS["sandboxes"])


def test_the_suite_is_what_it_says() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names) >= 40
    assert sum(check.escape for check in CHECKS) * 2 >= len(CHECKS)
    assert [check.name for check in CHECKS if not check.promise.endswith(".")] == []
