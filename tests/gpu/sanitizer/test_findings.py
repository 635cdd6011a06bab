"""Test the parser of compute-sanitizer's reports on reports that compute-sanitizer 11 to 13 wrote."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cuda")
FOLDER = Path(__file__).parent


def load() -> ModuleType:
    """Import the parser. The parser is in the folder of a script, and in no package."""
    spec = importlib.util.spec_from_file_location("sanitizer_findings", FOLDER / "findings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


findings = load()

ACCESS = """\
========= COMPUTE-SANITIZER
a line of the program
========= Invalid __global__ write of size 4 bytes
=========     at pygpu_add(float *, int)+0x160 in program.cu:28
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f671ac00010 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f671ac00000 of size 16 bytes
=========         Device Frame: pygpu_add(float *, int)+0x160 in program.cu:28
=========
========= Invalid __global__ write of size 4 bytes
=========     at pygpu_add(float *, int)+0x160 in program.cu:28
=========     by thread (1,0,0) in block (0,0,0)
=========     Access to 0x7f671ac00014 is out of bounds
=========
========= Invalid __shared__ read of size 2 bytes
=========     at 0x40 in pygpu_sort_count
=========     by thread (33,0,0) in block (7,0,0)
=========     Address 0xffff is misaligned
=========
========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) on CUDA API call to cuFuncGetParamInfo.
=========     Saved host backtrace up to driver entry point at error
=========         Host Frame: cuFuncGetParamInfo [0x2d4] in libcuda.so.1
=========
========= Leaked 1,024 bytes at 0x7f671ae00000
=========     Saved host backtrace up to driver entry point at allocation time
=========         Host Frame: cuMemAllocFromPoolAsync [0x2d4] in libcuda.so.1
=========
========= LEAK SUMMARY: 1024 bytes leaked in 1 allocations
========= ERROR SUMMARY: 7 errors
========= ERROR SUMMARY: 2 errors were not printed. Use --print-limit option to adjust the number of printed errors
"""
RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at pygpu_reduce(const float *, float *)+0x90 in reduce.cu:23
=========     and Read access at pygpu_reduce(const float *, float *)+0x130 in reduce.cu:27 [508 hazards]
=========     and Read access at pygpu_reduce(const float *, float *)+0x170 in reduce.cu:29 [4 hazards]
=========
========= Warning: Race reported between Write access at pygpu_scan+0xf0
=========     and Write access at pygpu_scan+0xf0 [16 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
HAZARD = """\
========= ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :
=========     Write Thread (0,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Write Thread (1,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Current Value : 1, Incoming Value : 2
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
INITIALIZATION = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *)+0x70 in memset_error.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= Host API memory access error at host access to 0x7fb5c4000000 of size 64 bytes
=========     Uninitialized access at 0x7fb5c4000008 on access by cuMemcpyDtoHAsync source
=========
========= ERROR SUMMARY: 2 errors
"""
BARRIER = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block
=========     at divergentThreads(int *)+0x2c8 in divergence.cu:79
=========     by thread (37,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
"""


def found(text: str) -> list[tuple[str, str, int]]:
    report = findings.parse(text.encode())
    return [(one.kind.value, one.kernel, one.count) for one in findings.merge(report.findings)]


def test_report_of_memcheck_is_parsed_into_distinct_findings() -> None:
    assert found(ACCESS) == [
        ("access", "pygpu_add(float *, int)", 2),
        ("access", "pygpu_sort_count", 1),
        ("api error", "cuFuncGetParamInfo", 1),
        ("leak", "", 1),
    ]
    report = findings.parse(ACCESS.encode())
    assert (report.total, report.count, report.leaked) == (7, 7, 1024)
    assert (report.not_checked, report.warnings) == ([], [])
    first = report.findings[0]
    assert first.lines[0] == "Invalid __global__ write of size 4 bytes"
    assert "by thread (0,0,0) in block (0,0,0)" in first.lines
    assert ACCESS.encode()[report.positions[1] :].startswith(b"========= Invalid __global__ write")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RACE, [("race", "pygpu_reduce(const float *, float *)", 1), ("race", "pygpu_scan", 1)]),
        (HAZARD, [("race", "WAW()", 1)]),
        (INITIALIZATION, [("host access", "cuMemcpyDtoHAsync", 1), ("uninitialized", "vectorAdd(int *)", 1)]),
        (BARRIER, [("barrier", "divergentThreads(int *)", 1)]),
    ],
)
def test_reports_of_racecheck_and_similar_tools_give_kind_and_kernel(
    text: str, expected: list[tuple[str, str, int]]
) -> None:
    assert sorted(found(text)) == expected
    assert findings.parse(text.encode()).total == len(expected)


def test_report_without_findings_has_total_zero() -> None:
    for summary in ("ERROR SUMMARY: 0 errors", "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"):
        report = findings.parse(f"========= COMPUTE-SANITIZER\n========= {summary}\n".encode())
        assert (report.total, report.findings, report.not_checked) == (0, [], [])


def test_pytest_output_line_with_equal_signs_is_no_finding() -> None:
    text = "========================= 3 passed in 1.2s =========================\n========= ERROR SUMMARY: 0 errors\n"
    report = findings.parse(text.encode())
    assert (report.total, report.findings) == (0, [])


def test_unknown_kernel_error_is_a_finding_but_tool_error_is_not() -> None:
    report = findings.parse(
        b"========= Something new went wrong\n=========     at kernel()+0x10 in a.cu:1\n"
        b"========= Internal Sanitizer Error: no memory\n"
        b"========= Warning: Detected overflow of tracked cuda::barrier structures.\n"
        b"========= Error: No attachable process found. compute-sanitizer timed-out.\n"
        b"========= Target application returned an error\n"
    )
    assert [(one.kind.value, one.kernel) for one in report.findings] == [("other", "kernel()")]
    assert report.total is None
    assert report.not_checked == [
        "Internal Sanitizer Error: no memory",
        "Error: No attachable process found. compute-sanitizer timed-out.",
    ]
    assert len(report.warnings) == 1


def test_report_states_that_process_made_no_cuda_call() -> None:
    text = b"========= COMPUTE-SANITIZER\n========= Target application terminated before first instrumented API call\n"
    report = findings.parse(text + b"========= Error: couldn't find exit code.\n")
    assert report.has_no_call
    assert not findings.parse(ACCESS.encode()).has_no_call


def test_merged_finding_counts_all_errors_and_lists_first_tests() -> None:
    several = []
    for number in range(9):
        [one] = findings.parse(BARRIER.replace("37", str(number)).encode()).findings
        one.tests = [f"test {number}"]
        several.append(one)
    [merged] = findings.merge(several)
    assert merged.count == 9
    assert merged.tests == [f"test {number}" for number in range(findings.NAMES)]


def test_leaks_of_different_sizes_are_different_findings() -> None:
    text = "========= Leaked {} bytes at 0x{}\n=========\n"
    leaks = "".join(text.format(*leak) for leak in (("72", "7f00"), ("4,335,936", "7f01"), ("72", "7f02")))
    merged = findings.merge(findings.parse(leaks.encode()).findings)
    assert [(one.headline, one.count) for one in merged] == [
        ("Leaked 72 bytes at 0x7f00", 2),
        ("Leaked 4,335,936 bytes at 0x7f01", 1),
    ]
