# Julia by PythonCall, over the same memory: `julia julia/heat.jl`. CUDA.jl for a GPU's, Base for the host's.
using PythonCall

gpuarray = pyimport("PyGPU")
backend = pyconvert(String, gpuarray.backend_name())
backend in ("cpu", "cuda") || error("this is for PyGPU's backends cpu and cuda, not for $backend")
on_gpu = backend == "cuda"
if on_gpu
    using CUDA
end

a = gpuarray.zeros((3, 4), "float32", order = "F")    # Julia's order
shape = pyconvert(Tuple{Int, Int}, a.shape)
address = pyconvert(UInt, a.ptr)

GC.@preserve a begin                                   # Python's object keeps the memory
    gpuarray.current_stream().synchronize()            # work on PyGPU's stream is complete
    x = on_gpu ? unsafe_wrap(CuArray, CuPtr{Float32}(address), shape; own = false) :
                 unsafe_wrap(Array, Ptr{Float32}(address), shape; own = false)
    x .= 2f0
    on_gpu && CUDA.synchronize()                       # and work on the stream of Julia's task
end
@assert pyconvert(Float64, a.sum().item()) == 24.0
println("as it should be")
