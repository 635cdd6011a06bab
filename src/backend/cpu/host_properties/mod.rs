//! Returns properties of the host: of its processor and its memory.
//!
//! The module queries the system at each call and has no state. Values that the system does not report are empty or
//! zero.

pub mod attributes;
mod container_memory;

use std::thread;

use self::attributes::COMPUTE_CAPABILITY;

use crate::{DeviceProperties, MemoryInfo};

/// Maximum number of threads in a block. NVIDIA's devices have the same limit, so a kernel that fits the host also fits
/// a device.
pub const THREADS_PER_BLOCK: i32 = 1024;
pub const WARP_SIZE: i32 = 32;

/// Returns the number of processors that this process may use.
pub fn processors() -> i32 {
    thread::available_parallelism().map_or(1, |count| i32::try_from(count.get()).unwrap_or(i32::MAX))
}

/// Returns the clock rate in kHz, or a typical value if the system does not report it.
pub fn clock_rate() -> i32 {
    const COMMON: i32 = 1_000_000;
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    let known = text.ok().and_then(|text| text.trim().parse().ok());
    known
        .or_else(|| {
            let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
            let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
            let megahertz: f64 = line.split_once(':')?.1.trim().parse().ok()?;
            Some((megahertz * 1000.0) as i32)
        })
        .filter(|&rate| rate > 0)
        .unwrap_or(COMMON)
}

/// Returns the size of the second-level cache in bytes, or a typical value if the system does not report it.
pub fn cache_bytes() -> i32 {
    const COMMON: i32 = 1 << 20;
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").unwrap_or_default();
    let kibibytes = text.trim().strip_suffix('K').and_then(|text| text.parse::<i32>().ok());
    kibibytes.and_then(|count| count.checked_mul(1024)).filter(|&bytes| bytes > 0).unwrap_or(COMMON)
}

/// Returns the properties of the host as a device.
pub fn properties() -> DeviceProperties {
    let processors = processors();
    DeviceProperties {
        name: processor_name().unwrap_or_else(|| "cpu".to_owned()),
        architecture: std::env::consts::ARCH.to_owned(),
        total_memory: memory().map_or(0, |info| info.total),
        multiprocessor_count: processors,
        warp_size: WARP_SIZE,
        max_threads_per_block: THREADS_PER_BLOCK,
        compute_capability: COMPUTE_CAPABILITY,
        l2_cache_size: cache_bytes(),
        clock_rate: clock_rate(),
        integrated: true,
        ..DeviceProperties::default()
    }
}

fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns free and total memory; `None` if the system does not report it.
pub fn memory() -> Option<MemoryInfo> {
    let from_file = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        Some(MemoryInfo { free: field(&text, "MemAvailable:")?, total: field(&text, "MemTotal:")? })
    };
    from_file().or_else(from_system).map(container_memory::within)
}

/// Finds the line of `/proc/meminfo` that begins with this name, such as `MemTotal: 65536 kB`, and returns its value in
/// bytes.
fn field(text: &str, name: &str) -> Option<usize> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Computes free and total memory from page counts, for systems without `/proc`. These counts include caches that the
/// system can drop in the used memory, so the returned free memory is too low.
#[cfg(target_os = "linux")]
fn from_system() -> Option<MemoryInfo> {
    let ask = |name| {
        // SAFETY: `sysconf` only reads a system parameter.
        usize::try_from(unsafe { libc::sysconf(name) }).ok()
    };
    let page = ask(libc::_SC_PAGESIZE)?;
    let free = ask(libc::_SC_AVPHYS_PAGES)?.checked_mul(page)?;
    Some(MemoryInfo { free, total: ask(libc::_SC_PHYS_PAGES)?.checked_mul(page)? })
}

#[cfg(not(target_os = "linux"))]
fn from_system() -> Option<MemoryInfo> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn meminfo_lines_are_parsed_as_bytes() {
        let text = "MemTotal:       65536 kB\nMemAvailable:      12 kB\nHugePages_Total:       0\n";
        assert_eq!(field(text, "MemTotal:"), Some(65536 * 1024));
        assert_eq!(field(text, "MemAvailable:"), Some(12 * 1024));
        assert_eq!(field(text, "HugePages_Total:"), None);
        assert_eq!(field(text, "Absent:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn meminfo_and_sysconf_report_same_total_memory() {
        assert_eq!(memory().unwrap().total, container_memory::within(from_system().unwrap()).total);
    }
}
