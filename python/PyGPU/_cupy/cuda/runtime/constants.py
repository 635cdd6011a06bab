"""Constants of `cupy.cuda.runtime`, which have CUDA's values on every backend."""

from __future__ import annotations

from PyGPU._pybindgpu.runtime.attributes import (
    cudaDeviceAttr,
    cudaInvalidDeviceId,
    cudaMemoryTypeDevice,
    cudaMemoryTypeHost,
    cudaMemoryTypeManaged,
    cudaMemoryTypeUnregistered,
)
from PyGPU._pybindgpu.runtime.event import (
    cudaEventBlockingSync as eventBlockingSync,
    cudaEventDefault as eventDefault,
    cudaEventDisableTiming as eventDisableTiming,
    cudaEventInterprocess as eventInterprocess,
)
from PyGPU._pybindgpu.runtime.host_memory import (
    cudaHostAllocDefault as hostAllocDefault,
    cudaHostAllocMapped as hostAllocMapped,
    cudaHostAllocPortable as hostAllocPortable,
    cudaHostAllocWriteCombined as hostAllocWriteCombined,
)
from PyGPU._pybindgpu.runtime.ipc import cudaIpcMemLazyEnablePeerAccess
from PyGPU._pybindgpu.runtime.managed_memory import (
    cudaCpuDeviceId,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseSetReadMostly,
    cudaMemAdviseUnsetAccessedBy,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAttachGlobal,
    cudaMemAttachHost,
)
from PyGPU._pybindgpu.runtime.memory import (
    cudaMemcpyDefault as memcpyDefault,
    cudaMemcpyDeviceToDevice as memcpyDeviceToDevice,
    cudaMemcpyDeviceToHost as memcpyDeviceToHost,
    cudaMemcpyHostToDevice as memcpyHostToDevice,
    cudaMemcpyHostToHost as memcpyHostToHost,
)
from PyGPU._pybindgpu.runtime.stream import (
    cudaStreamDefault as streamDefault,
    cudaStreamNonBlocking as streamNonBlocking,
)
from PyGPU._pybindgpu.status import (
    INVALID_RESOURCE_HANDLE as errorInvalidResourceHandle,
    INVALID_VALUE as errorInvalidValue,
    MEMORY_ALLOCATION as errorMemoryAllocation,
)

__all__ = [
    "cudaAddressModeBorder",
    "cudaAddressModeClamp",
    "cudaAddressModeMirror",
    "cudaAddressModeWrap",
    "cudaArrayCubemap",
    "cudaArrayDefault",
    "cudaArrayLayered",
    "cudaArraySurfaceLoadStore",
    "cudaArrayTextureGather",
    "cudaChannelFormatKindFloat",
    "cudaChannelFormatKindNone",
    "cudaChannelFormatKindSigned",
    "cudaChannelFormatKindUnsigned",
    "cudaCpuDeviceId",
    "cudaFilterModeLinear",
    "cudaFilterModePoint",
    "cudaInvalidDeviceId",
    "cudaIpcMemLazyEnablePeerAccess",
    "cudaLimitDevRuntimePendingLaunchCount",
    "cudaLimitDevRuntimeSyncDepth",
    "cudaLimitMallocHeapSize",
    "cudaLimitMaxL2FetchGranularity",
    "cudaLimitPrintfFifoSize",
    "cudaLimitStackSize",
    "cudaMemAdviseSetAccessedBy",
    "cudaMemAdviseSetPreferredLocation",
    "cudaMemAdviseSetReadMostly",
    "cudaMemAdviseUnsetAccessedBy",
    "cudaMemAdviseUnsetPreferredLocation",
    "cudaMemAdviseUnsetReadMostly",
    "cudaMemAttachGlobal",
    "cudaMemAttachHost",
    "cudaMemAttachSingle",
    "cudaMemPoolAttrReleaseThreshold",
    "cudaMemPoolAttrReservedMemCurrent",
    "cudaMemPoolAttrReservedMemHigh",
    "cudaMemPoolAttrUsedMemCurrent",
    "cudaMemPoolAttrUsedMemHigh",
    "cudaMemPoolReuseAllowInternalDependencies",
    "cudaMemPoolReuseAllowOpportunistic",
    "cudaMemPoolReuseFollowEventDependencies",
    "cudaMemoryTypeDevice",
    "cudaMemoryTypeHost",
    "cudaReadModeElementType",
    "cudaReadModeNormalizedFloat",
    "cudaResourceTypeArray",
    "cudaResourceTypeLinear",
    "cudaResourceTypeMipmappedArray",
    "cudaResourceTypePitch2D",
    "deviceAttributeComputeCapabilityMajor",
    "deviceAttributeComputeCapabilityMinor",
    "errorContextIsDestroyed",
    "errorInvalidResourceHandle",
    "errorInvalidValue",
    "errorMemoryAllocation",
    "errorPeerAccessAlreadyEnabled",
    "eventBlockingSync",
    "eventDefault",
    "eventDisableTiming",
    "eventInterprocess",
    "hostAllocDefault",
    "hostAllocMapped",
    "hostAllocPortable",
    "hostAllocWriteCombined",
    "memcpyDefault",
    "memcpyDeviceToDevice",
    "memcpyDeviceToHost",
    "memcpyHostToDevice",
    "memcpyHostToHost",
    "memoryTypeDevice",
    "memoryTypeHost",
    "memoryTypeManaged",
    "memoryTypeUnregistered",
    "streamCaptureModeGlobal",
    "streamCaptureModeRelaxed",
    "streamCaptureModeThreadLocal",
    "streamDefault",
    "streamLegacy",
    "streamNonBlocking",
    "streamPerThread",
    *(attribute.name for attribute in cudaDeviceAttr),
]

memoryTypeUnregistered = cudaMemoryTypeUnregistered
memoryTypeHost = cudaMemoryTypeHost
memoryTypeDevice = cudaMemoryTypeDevice
memoryTypeManaged = cudaMemoryTypeManaged

streamLegacy = 1
"""Handle of the legacy default stream."""
streamPerThread = 2
"""Handle of the per-thread default stream."""

streamCaptureModeGlobal = 0
streamCaptureModeThreadLocal = 1
streamCaptureModeRelaxed = 2

cudaMemAttachSingle = 4
cudaLimitStackSize = 0
cudaLimitPrintfFifoSize = 1
cudaLimitMallocHeapSize = 2
cudaLimitDevRuntimeSyncDepth = 3
cudaLimitDevRuntimePendingLaunchCount = 4
cudaLimitMaxL2FetchGranularity = 5

cudaMemPoolReuseFollowEventDependencies = 1
cudaMemPoolReuseAllowOpportunistic = 2
cudaMemPoolReuseAllowInternalDependencies = 3
cudaMemPoolAttrReleaseThreshold = 4
cudaMemPoolAttrReservedMemCurrent = 5
cudaMemPoolAttrReservedMemHigh = 6
cudaMemPoolAttrUsedMemCurrent = 7
cudaMemPoolAttrUsedMemHigh = 8

# Textures: values of CUDA's enumerations.
cudaAddressModeWrap = 0
cudaAddressModeClamp = 1
cudaAddressModeMirror = 2
cudaAddressModeBorder = 3
cudaArrayDefault = 0
cudaArrayLayered = 1
cudaArraySurfaceLoadStore = 2
cudaArrayCubemap = 4
cudaArrayTextureGather = 8
cudaChannelFormatKindSigned = 0
cudaChannelFormatKindUnsigned = 1
cudaChannelFormatKindFloat = 2
cudaChannelFormatKindNone = 3
cudaFilterModePoint = 0
cudaFilterModeLinear = 1
cudaReadModeElementType = 0
cudaReadModeNormalizedFloat = 1
cudaResourceTypeArray = 0
cudaResourceTypeMipmappedArray = 1
cudaResourceTypeLinear = 2
cudaResourceTypePitch2D = 3

errorPeerAccessAlreadyEnabled = 704
errorContextIsDestroyed = 709

deviceAttributeComputeCapabilityMajor = cudaDeviceAttr.cudaDevAttrComputeCapabilityMajor.value
deviceAttributeComputeCapabilityMinor = cudaDeviceAttr.cudaDevAttrComputeCapabilityMinor.value

globals().update({attribute.name: attribute.value for attribute in cudaDeviceAttr})
