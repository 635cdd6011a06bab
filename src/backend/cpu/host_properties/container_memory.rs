//! Determines the memory limit of the container in which the process runs, if the limit is below the machine's memory.

use std::fs;
use std::path::Path;

use crate::MemoryInfo;

/// Names of the files of Linux control groups, version 2 and version 1. The files contain the memory limit, the memory
/// in use, and statistics with the size of the caches that the system can drop.
const FILES: [(&str, &str, &str, &str); 2] = [
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file "),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
        "total_inactive_file ",
    ),
];

fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(path)).ok()
}

/// Returns the given free and total memory of the machine, reduced to the container's memory limit.
pub fn within(machine: MemoryInfo) -> MemoryInfo {
    let bounded = FILES.iter().find_map(|&(most, used, statistics, cached)| {
        let (most, used) = (number(&read(most)?)?, number(&read(used)?)?);
        let statistics = read(statistics).unwrap_or_default();
        let cached = statistics.lines().find_map(|line| number(line.strip_prefix(cached)?));
        Some((most, used.saturating_sub(cached.unwrap_or(0))))
    });
    bounded.map_or(machine, |(most, used)| bound(machine, most, used))
}

fn bound(machine: MemoryInfo, most: usize, used: usize) -> MemoryInfo {
    MemoryInfo { free: machine.free.min(most.saturating_sub(used)), total: machine.total.min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_limit_below_machine_memory_applies() {
        let machine = MemoryInfo { free: 50, total: 100 };
        assert_eq!(bound(machine, usize::MAX, 10), machine);
        assert_eq!(bound(machine, 40, 10), MemoryInfo { free: 30, total: 40 });
        assert_eq!(bound(machine, 80, 90), MemoryInfo { free: 0, total: 80 });
    }
}
