"""Create the dictionary that `cupy.cuda.runtime.getDeviceProperties` returns."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._cupy.cuda.device import attributes

__all__ = ["properties_of"]

_SCALARS = {
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock",
    "regsPerBlock": "MaxRegistersPerBlock",
    "warpSize": "WarpSize",
    "maxThreadsPerBlock": "MaxThreadsPerBlock",
    "clockRate": "ClockRate",
    "totalConstMem": "TotalConstantMemory",
    "textureAlignment": "TextureAlignment",
    "texturePitchAlignment": "TexturePitchAlignment",
    "multiProcessorCount": "MultiProcessorCount",
    "kernelExecTimeoutEnabled": "KernelExecTimeout",
    "integrated": "Integrated",
    "canMapHostMemory": "CanMapHostMemory",
    "computeMode": "ComputeMode",
    "maxTexture1D": "MaxTexture1DWidth",
    "concurrentKernels": "ConcurrentKernels",
    "ECCEnabled": "EccEnabled",
    "tccDriver": "TccDriver",
    "memoryClockRate": "MemoryClockRate",
    "memoryBusWidth": "GlobalMemoryBusWidth",
    "l2CacheSize": "L2CacheSize",
    "maxThreadsPerMultiProcessor": "MaxThreadsPerMultiProcessor",
    "isMultiGpuBoard": "IsMultiGpuBoard",
    "cooperativeLaunch": "CooperativeLaunch",
    "cooperativeMultiDeviceLaunch": "CooperativeMultiDeviceLaunch",
    "surfaceAlignment": "SurfaceAlignment",
    "asyncEngineCount": "AsyncEngineCount",
    "unifiedAddressing": "UnifiedAddressing",
    "streamPrioritiesSupported": "StreamPrioritiesSupported",
    "globalL1CacheSupported": "GlobalL1CacheSupported",
    "localL1CacheSupported": "LocalL1CacheSupported",
    "sharedMemPerMultiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor",
    "managedMemory": "ManagedMemory",
    "multiGpuBoardGroupID": "MultiGpuBoardGroupID",
    "hostNativeAtomicSupported": "HostNativeAtomicSupported",
    "pageableMemoryAccess": "PageableMemoryAccess",
    "concurrentManagedAccess": "ConcurrentManagedAccess",
    "computePreemptionSupported": "ComputePreemptionSupported",
    "canUseHostPointerForRegisteredMem": "CanUseHostPointerForRegisteredMem",
    "sharedMemPerBlockOptin": "MaxSharedMemoryPerBlockOptin",
    "pageableMemoryAccessUsesHostPageTables": "PageableMemoryAccessUsesHostPageTables",
    "directManagedMemAccessFromHost": "DirectManagedMemAccessFromHost",
    "persistingL2CacheMaxSize": "MaxPersistingL2CacheSize",
    "maxBlocksPerMultiProcessor": "MaxBlocksPerMultiprocessor",
    "accessPolicyMaxWindowSize": "MaxAccessPolicyWindowSize",
    "reservedSharedMemPerBlock": "ReservedSharedMemoryPerBlock",
    "deviceOverlap": "GpuOverlap",
    "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio",
}
"""For each property with one number, the device attribute that has its value."""

_TUPLES = {
    "maxThreadsDim": ("MaxBlockDimX", "MaxBlockDimY", "MaxBlockDimZ"),
    "maxGridSize": ("MaxGridDimX", "MaxGridDimY", "MaxGridDimZ"),
    "maxTexture2D": ("MaxTexture2DWidth", "MaxTexture2DHeight"),
    "maxTexture3D": ("MaxTexture3DWidth", "MaxTexture3DHeight", "MaxTexture3DDepth"),
    "maxTexture1DLayered": ("MaxTexture1DLayeredWidth", "MaxTexture1DLayeredLayers"),
    "maxTexture2DLayered": ("MaxTexture2DLayeredWidth", "MaxTexture2DLayeredHeight", "MaxTexture2DLayeredLayers"),
    "maxSurface2D": ("MaxSurface2DWidth", "MaxSurface2DHeight"),
    "maxSurface3D": ("MaxSurface3DWidth", "MaxSurface3DHeight", "MaxSurface3DDepth"),
}
"""For each property with several numbers, the device attributes that have its values."""


def properties_of(device: int) -> dict[str, Any]:
    """Return the properties of a device that its driver reports, under the names of ``cudaDeviceProp``.

    The dictionary lacks properties that the driver does not report. The device's name is a `bytes` object, as in CuPy.
    """
    described = _core.device_properties(device)
    major, minor = described["compute_capability"]
    known = attributes(_core.Device(device))
    properties: dict[str, Any] = {
        "name": described["name"].encode(),
        "totalGlobalMem": described["total_memory"],
        "major": major,
        "minor": minor,
        "uuid": described["uuid"],
        "pciBusID": described["pci_bus"],
        "pciDeviceID": described["pci_device"],
        "pciDomainID": described["pci_domain"],
    }
    properties |= {name: known[source] for name, source in _SCALARS.items() if source in known}
    for name, sources in _TUPLES.items():
        if all(source in known for source in sources):
            properties[name] = tuple(known[source] for source in sources)
    if _core.backend_name() == "hip":
        properties["gcnArchName"] = described["architecture"].encode()
    return properties
