//! Tests the CUDA backend's driver and NVRTC calls for device code, with a fake driver and a fake NVRTC.

use crate::fakes::{Fake, fake_driver, run};

#[test]
fn cuda_backend_loads_and_launches_as_documented() {
    for (name, options) in [("device-code", &[][..]), ("device-code-old", &["-DOLD"])] {
        let Some(driver) = fake_driver(Fake::Cuda, name, options) else { return };
        run("device_code::child::module_calls_have_documented_effects", Some(&driver), Some("cuda"));
    }
}

#[test]
fn nvrtc_is_called_as_documented() {
    let Some(driver) = fake_driver(Fake::Cuda, "nvrtc", &[]) else { return };
    fake_driver(Fake::Nvrtc, "nvrtc", &[]).unwrap();
    run("device_code::child::nvrtc_compiles_and_reports_errors", Some(&driver), Some("cuda"));
}

#[test]
fn missing_nvrtc_error_names_package_and_searched_paths() {
    let Some(driver) = fake_driver(Fake::Cuda, "no-nvrtc", &[]) else { return };
    run("device_code::child::missing_nvrtc_error_contains_searched_paths", Some(&driver), Some("cuda"));
}

mod child {
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::path::{Path, PathBuf};

    use pygpu::backend::*;
    use pygpu::device::Device;
    use pygpu::dtype::{DType, ScalarType};
    use pygpu::error::Error;
    use pygpu::kernel::{self, Arguments, KernelSource, Module};
    use pygpu::stream::Stream;

    use crate::fakes::is_alone;

    const IMAGE: &[u8] = b"\x7fELF\nk scale 8 4 4\nk _Z5twicePf 8\ng factor 16\n";

    fn driver() -> Library {
        Library::open(&["libcuda.so.1"]).unwrap()
    }

    fn launched() -> String {
        let ask = unsafe { driver().get::<unsafe extern "C" fn() -> *const c_char>("fake_launched") }.unwrap();
        unsafe { CStr::from_ptr(ask()) }.to_string_lossy().into_owned()
    }

    fn alive() -> i32 {
        let ask = unsafe { driver().get::<unsafe extern "C" fn() -> c_int>("fake_modules") }.unwrap();
        unsafe { ask() }
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn module_calls_have_documented_effects() {
        if is_alone() {
            return;
        }
        let backend = default_backend().unwrap();
        let device_code = backend.device_code().unwrap();
        images(device_code);
        functions(device_code);
        limits(device_code);
        modules(Device::new(backend, 0).unwrap());
    }

    fn images(device_code: &dyn DeviceCode) {
        let options = LoadOptions { max_registers: Some(32), debug: true, line_info: true };
        let loaded = device_code.load(0, IMAGE, &options).unwrap();
        assert_eq!((loaded.log.as_str(), alive()), ("a remark", 1));
        unsafe { device_code.unload(0, loaded.module).unwrap() };
        assert_eq!(alive(), 0);
        let error = device_code.load(1, b".version 8.0\n// broken", &options).unwrap_err();
        assert_eq!(error.code(), Some(200));
        assert!(error.to_string().contains("ptxas said no"), "{error}");
        for image in [&b""[..], b"nonsense", b"MZ", &[0, 1, 2, 3]] {
            assert!(matches!(device_code.load(0, image, &options), Err(Error::Value(_))));
        }
        assert_eq!(alive(), 0);
    }

    fn functions(device_code: &dyn DeviceCode) {
        let module = device_code.load(0, IMAGE, &LoadOptions::default()).unwrap().module;
        unsafe {
            let scale = device_code.function(0, module, c"scale").unwrap();
            assert_eq!(device_code.function(0, module, c"absent").unwrap_err().code(), Some(500));
            assert_eq!(device_code.global(0, module, c"factor").unwrap().1, 16);
            assert_eq!(device_code.global(0, module, c"absent").unwrap_err().code(), Some(500));
            let known = device_code.function_attributes(0, scale).unwrap();
            assert_eq!((known.max_threads_per_block, known.static_shared_bytes), (1024, 16));
            assert_eq!((known.constant_bytes, known.local_bytes, known.registers), (102, 103, 104));
            assert_eq!((known.ptx_version, known.binary_version), (105, 106));
            device_code.set_function(0, scale, FunctionSetting::MaxDynamicSharedBytes(70000)).unwrap();
            device_code.set_function(0, scale, FunctionSetting::PreferredCarveout(-1)).unwrap();
            device_code.set_function(0, scale, FunctionSetting::CachePreference(2)).unwrap();
            assert!(device_code.set_function(0, scale, FunctionSetting::CachePreference(4)).is_err());
            let known = device_code.function_attributes(0, scale).unwrap();
            assert_eq!((known.max_dynamic_shared_bytes, known.preferred_carveout), (70000, -1));
            if let Some(places) = device_code.parameters(0, scale).unwrap() {
                assert_eq!(places.iter().map(|place| place.size).collect::<Vec<_>>(), [8, 4, 4]);
            }
            assert_eq!(device_code.active_blocks(0, scale, 256, 3).unwrap(), 5);
            assert_eq!(device_code.suggested_shape(0, scale, 3, 0).unwrap(), (10, 1024));
            assert_eq!(device_code.suggested_shape(0, scale, 0, 64).unwrap(), (7, 64));
            launches(device_code, scale);
            device_code.unload(0, module).unwrap();
        }
    }

    unsafe fn launches(device_code: &dyn DeviceCode, scale: FunctionHandle) {
        let (address, factor, count) = (0x1122u64, 1.0f32, 5i32);
        let mut pointers: [*mut c_void; 3] = [
            (&raw const address).cast_mut().cast(),
            (&raw const factor).cast_mut().cast(),
            (&raw const count).cast_mut().cast(),
        ];
        let mut shape = LaunchShape { grid: [1, 2, 3], block: [4, 5, 6], shared: 7, cooperative: false };
        let launch = |shape: &LaunchShape, stream, pointers: &mut [*mut c_void; 3]| unsafe {
            device_code.launch(0, scale, shape, StreamHandle(stream), pointers.as_mut_ptr())
        };
        launch(&shape, 0x1001, &mut pointers).unwrap();
        assert_eq!(launched(), "plain scale 1,2,3 4,5,6 7 0x1001: 2211000000000000 0000803f 05000000");
        shape.cooperative = true;
        launch(&shape, 0x1001, &mut pointers).unwrap();
        assert!(launched().starts_with("cooperative scale"));
        let error = launch(&shape, 0x700, &mut pointers).unwrap_err().to_string();
        assert!(
            error.starts_with("cuLaunchCooperativeKernel failed on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
            "{error}"
        );
        assert!(error.contains("grid [1, 2, 3], block [4, 5, 6]") && error.contains("only a new process"), "{error}");
    }

    fn limits(device_code: &dyn DeviceCode) {
        let limits = device_code.launch_limits(0).unwrap();
        assert_eq!((limits.block, limits.grid), ([1024, 512, 256], [65535; 3]));
        assert_eq!((limits.shared_per_block, limits.shared_per_block_optin), (49152, 100_000));
        assert!(limits.cooperative && !device_code.launch_limits(1).unwrap().cooperative);
        assert_eq!(device_code.device_attribute(0, 38).unwrap(), 38);
    }

    /// Tests `Module`, the layer above the backend: names of functions, shapes of launches, and unloading.
    fn modules(device: Device) {
        let module = Module::of_image(device, IMAGE.to_vec(), &LoadOptions::default()).unwrap();
        assert_eq!(module.function("twice").unwrap().name(), "twice");
        let error = module.function("absent").err().unwrap().to_string();
        assert!(error.contains("no kernel 'absent'"), "{error}");
        assert!(module.global("absent").is_err());
        let scale = module.function("scale").unwrap();
        let shape = LaunchShape { grid: [1; 3], block: [1; 3], shared: 60000, cooperative: false };
        let stream = Stream::default_of(device);
        let launch = |shape: &LaunchShape| unsafe {
            let mut arguments = Arguments::new();
            arguments.push_word(8);
            arguments.push(&2f32.to_le_bytes());
            arguments.push(&3i32.to_le_bytes());
            kernel::launch::launch(&scale, shape, &stream, &mut arguments, &[])
        };
        launch(&shape).unwrap();
        assert_eq!(scale.attributes().unwrap().max_dynamic_shared_bytes, 60000);
        for (shape, text) in [
            (LaunchShape { grid: [1, 0, 1], ..shape }, "has 0 along y"),
            (LaunchShape { grid: [65536, 1, 1], ..shape }, "65536 along x; cuda:0 takes 1 to 65535"),
            (LaunchShape { block: [64, 64, 1], ..shape }, "4096 threads"),
            (LaunchShape { shared: 99_999, ..shape }, "99999 bytes of dynamic shared memory"),
        ] {
            let error = launch(&shape).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        assert_eq!(DType::new(ScalarType::Float32).itemsize(), 4);
        assert_eq!(alive(), 1);
        drop((module, scale));
        pygpu::memory::retired_objects::sweep(device);
        assert_eq!(alive(), 1, "to unload it now might stop the host");
        pygpu::memory::retired_objects::synchronize(device).unwrap();
        assert_eq!(alive(), 0);
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn nvrtc_compiles_and_reports_errors() {
        if is_alone() {
            return;
        }
        // Set this variable first, because PyGPU reads its settings only once.
        let folder = tempfile::tempdir().unwrap();
        unsafe { std::env::set_var("PYGPU_CACHE_DIR", folder.path()) };
        let device_code = default_backend().unwrap().device_code().unwrap();
        let compiler = device_code.compiler(&[]).unwrap();
        assert_eq!((compiler.name(), compiler.version()), ("nvrtc", "12.34"));
        let options = [CompileOption::Define("N".into(), Some("3".into())), CompileOption::FastMath];
        let expressions = ["k<int>".to_owned()];
        let request = CompileRequest {
            source: "//!k _ZI0 8\n",
            name: "a.cu",
            architecture: "sm_90",
            options: &options,
            expressions: &expressions,
        };
        let compiled = compiler.compile(&request).unwrap();
        assert_eq!(compiled.image, b"\x7fELF\nk _ZI0 8\n");
        assert_eq!(compiled.log, "--gpu-architecture=sm_90 -DN=3 --use_fast_math --minimal");
        assert_eq!(compiled.lowered, ["_ZI0"]);
        // The fake NVRTC does not support this device's architecture, so PyGPU compiles PTX for the newest older
        // architecture that NVRTC supports.
        let compiled = compiler.compile(&CompileRequest { architecture: "sm_100", ..request }).unwrap();
        assert!(compiled.image.starts_with(b".version") && compiled.log.contains("compute_90"));
        let error = compiler.compile(&CompileRequest { architecture: "sm_70", ..request }).unwrap_err();
        assert!(error.to_string().contains("PyGPU[cuda12]"), "{error}");
        let Err(Error::Compile(error)) = compiler.compile(&CompileRequest { source: "bad", ..request }) else {
            panic!()
        };
        assert_eq!((error.log.as_str(), error.source.as_str()), ("a.cu(2): error: bad", "bad"));
        let nonsense = [CompileOption::Own("--nonsense".into())];
        let error = compiler.compile(&CompileRequest { options: &nonsense, ..request }).unwrap_err();
        assert!(matches!(&error, Error::Value(text) if text.contains("unrecognized option --nonsense")), "{error}");
        builds(folder.path());
    }

    /// Tests that a source is compiled and its functions are found, and that a second load of the source takes the
    /// image from the cache.
    fn builds(folder: &Path) {
        let device = Device::current().unwrap();
        let text = "//!k _Z5scalePf 8\n//!k _ZI0 8 4\n__global__ void scale(float *x); template<class T> __global__ void t(T *x, T a);";
        let source = KernelSource { text: text.into(), instances: vec!["t<int>".into()], ..KernelSource::default() };
        let module = || kernel::load(device, &source, &[]).unwrap();
        let first = module();
        assert_eq!(first.function("scale").unwrap().parameters().unwrap()[0].to_string(), "float* x");
        assert_eq!(first.function("t<int>").unwrap().parameters().unwrap().len(), 2);
        let error = first.function("t<float>").err().unwrap().to_string();
        assert!(error.contains("the source declares scale, t<...>"), "{error}");
        let compiled = || {
            let library = Library::open(&["libnvrtc.so.12"]).unwrap();
            let ask = unsafe { library.get::<unsafe extern "C" fn() -> c_int>("fake_compiled") }.unwrap();
            unsafe { ask() }
        };
        let before = compiled();
        assert!(module().function("scale").is_ok());
        assert_eq!(compiled(), before);
        assert_eq!(std::fs::read_dir(folder.join("kernels")).unwrap().count(), 1);
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn missing_nvrtc_error_contains_searched_paths() {
        if is_alone() {
            return;
        }
        let device_code = default_backend().unwrap().device_code().unwrap();
        match device_code.compiler(&[PathBuf::from("/no/such/libnvrtc.so.12")]) {
            Ok(compiler) => eprintln!("skipped: this machine has an NVRTC in {}", compiler.path()),
            Err(error) => {
                let text = error.to_string();
                for part in ["PyGPU[cuda12]", "PyGPU[cuda13]", "/no/such/libnvrtc.so.12: ", "libnvrtc.so.13: "] {
                    assert!(text.contains(part), "{text}");
                }
            }
        }
    }
}
