"""Test the tables of driver codes against the CUDA and HIP bindings that cargo has fetched."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from PyGPU import driver, runtime
from PyGPU._pybindgpu.error_table import HIP_ERRORS

ROOT = Path(__file__).parent.parent.parent
FLAGS = {
    "CU_MEMHOSTALLOC_": driver.host_alloc_flags,
    "CU_MEMHOSTREGISTER_": driver.mem_host_register_flags,
}
MEMORY = {
    "mem_attach_flags": ("CUmemAttach_flags_enum", "CU_MEM_ATTACH_"),
    "ipc_mem_flags": ("CUipcMem_flags_enum", "CU_IPC_MEM_"),
    "memory_type": ("CUmemorytype_enum", "CU_MEMORYTYPE_"),
    "pointer_attribute": ("CUpointer_attribute_enum", "CU_POINTER_ATTRIBUTE_"),
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Load tools/driver_tables.py as a module; skip the test if the bindings are missing."""
    spec = importlib.util.spec_from_file_location("driver_tables", ROOT / "tools" / "driver_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["driver_tables"] = module  # `dataclasses` looks up a class's module in `sys.modules`.
    spec.loader.exec_module(module)
    try:
        module.driver()
    except module.NoBindings as error:
        pytest.skip(str(error))
    return module


def test_driver_tables_match_script_output(script: ModuleType) -> None:
    for path, text in script.tables().items():
        assert path.read_text() == text, f"{path.name} is out of date: python tools/driver_tables.py"


def test_memory_flags_have_same_values_as_in_driver(script: ModuleType) -> None:
    enumerations, constants = script.driver()
    for prefix, flags in FLAGS.items():
        assert {name: int(flag) for name, flag in flags.__members__.items()} == {
            name: constants[prefix + name] for name in flags.__members__
        }
    for name, (c_name, prefix) in MEMORY.items():
        members = getattr(driver, name).__members__
        assert {key: int(value) for key, value in members.items()} == {
            key: enumerations[c_name][prefix + key] for key in members
        }


def test_runtime_constants_have_same_values_as_in_cuda(script: ModuleType) -> None:
    text = script.crate("cudarc", "runtime/sys/mod.rs")[-1].read_text()
    kinds = script.enumerations(text)["cudaMemcpyKind"]
    constants = {name: int(number) for name, number in script.CONSTANT.findall(text)}
    for name in runtime.__all__:
        known = kinds.get(name, constants.get(name))
        if isinstance(getattr(runtime, name), int) and known is not None:
            assert getattr(runtime, name) == known, name
    assert runtime.cudaMemcpyDeviceToHost == kinds["cudaMemcpyDeviceToHost"]
    assert runtime.cudaHostAllocMapped == constants["cudaHostAllocMapped"]


def test_hip_errors_have_names_of_hip(script: ModuleType) -> None:
    known = script.hip_errors()
    assert {number: name for number, (name, _) in HIP_ERRORS.items()} == {
        number: known[number] for number in HIP_ERRORS
    }


def test_enumeration_value_comes_from_preferred_driver_release(script: ModuleType) -> None:
    text = (
        '#[cfg(any(feature = "cuda-13000"))]\npub enum E {\n    A = 2,\n    B = 3,\n}\n'
        '#[cfg(any(feature = "cuda-12000"))]\npub enum E {\n    A = 1,\n}\n'
        "impl E {\n    pub const C: E = E::A;\n}\n"
    )
    assert script.enumerations(text) == {"E": {"A": 1, "B": 3, "C": 1}}
