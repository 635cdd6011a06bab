//! Reads settings from environment variables when the driver starts.

use std::path::PathBuf;

use crate::fault::Fault;

/// Settings that a test must make in environment variables before the first call of the driver.
#[derive(Clone, Debug)]
pub struct Config {
    /// `PYGPU_SIM_DEVICES`: number of devices.
    pub devices: usize,
    /// `PYGPU_SIM_MEMORY`: memory size of each device in bytes.
    pub memory: u64,
    /// `PYGPU_SIM_DELAY_US`: delay before each operation in microseconds, constant as in `200` or random as in `0-200`.
    pub delay: Delay,
    /// `PYGPU_SIM_SEED`: seed of the random delays. If it is set, the driver also holds back some operations until the
    /// host waits for them, or until a timeout.
    pub seed: u64,
    /// Whether the driver holds back operations, in order to test other legal execution orders.
    pub reorders: bool,
    /// `PYGPU_SIM_FAULT`: a list of faults, separated by commas. Each fault is `name:nth:code[:times|sticky|async]`:
    /// the name of the function, the number of the call that fails, its error code, and how many calls fail.
    pub faults: Vec<Fault>,
    /// `PYGPU_SIM_REPORT`: file to which the findings are appended at exit, one JSON object per line.
    pub report: Option<PathBuf>,
    /// `PYGPU_SIM_QUARANTINE`: number of freed bytes that stay in quarantine, where their addresses are not reused.
    pub quarantine: u64,
    /// Settings with values that could not be parsed.
    pub mistakes: Vec<String>,
}

/// Range of delays before an operation in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Delay {
    /// Minimum delay.
    pub least: u64,
    /// Maximum delay.
    pub most: u64,
}

impl Delay {
    /// Creates a constant delay.
    pub fn of(microseconds: u64) -> Self {
        Self { least: microseconds, most: microseconds }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once('-') {
            Some((least, most)) => {
                let delay = Self { least: least.parse().ok()?, most: most.parse().ok()? };
                (delay.least <= delay.most).then_some(delay)
            }
            None => text.parse().ok().map(Self::of),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            devices: 2,
            memory: 2 << 30,
            delay: Delay::default(),
            seed: 0,
            reorders: false,
            faults: Vec::new(),
            report: None,
            quarantine: 16 << 20,
            mistakes: Vec::new(),
        }
    }
}

/// Maximum number of devices. No test needs more devices, and the address space would not suffice for more.
const MOST_DEVICES: usize = 16;

impl Config {
    /// Parses the environment variables. For an invalid value the default is used, and the value is recorded in
    /// `mistakes`.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Self {
        let mut config = Self::default();
        let mut mistakes = Vec::new();
        let mut read = |name: &str, set: &mut dyn FnMut(&str) -> bool| {
            if let Some(text) = get(name).filter(|text| !text.is_empty())
                && !set(text.trim())
            {
                mistakes.push(format!("{name}={text} is not understood"));
            }
        };
        read("PYGPU_SIM_DEVICES", &mut |text| {
            store(&mut config.devices, text.parse().ok().filter(|&count| count <= MOST_DEVICES))
        });
        read("PYGPU_SIM_MEMORY", &mut |text| store(&mut config.memory, text.parse().ok()));
        read("PYGPU_SIM_DELAY_US", &mut |text| store(&mut config.delay, Delay::parse(text)));
        read("PYGPU_SIM_SEED", &mut |text| {
            config.reorders = store(&mut config.seed, text.parse().ok());
            config.reorders
        });
        read("PYGPU_SIM_QUARANTINE", &mut |text| store(&mut config.quarantine, text.parse().ok()));
        read("PYGPU_SIM_REPORT", &mut |text| store(&mut config.report, Some(Some(PathBuf::from(text)))));
        read("PYGPU_SIM_FAULT", &mut |text| {
            store(&mut config.faults, text.split(',').map(Fault::parse).collect::<Option<Vec<_>>>())
        });
        config.mistakes = mistakes;
        config
    }
}

fn store<T>(target: &mut T, value: Option<T>) -> bool {
    let understood = value.is_some();
    if let Some(value) = value {
        *target = value;
    }
    understood
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn config_uses_default_and_records_mistake_for_invalid_variable() {
        let config = Config::from_variables(|name| {
            let value = match name {
                "PYGPU_SIM_DEVICES" => "3",
                "PYGPU_SIM_DELAY_US" => "5-9",
                "PYGPU_SIM_MEMORY" => "lots",
                "PYGPU_SIM_FAULT" => "cuMemAlloc_v2:2:2,cuStreamQuery:1:700:sticky",
                _ => return None,
            };
            Some(value.to_owned())
        });
        assert_eq!((config.devices, config.memory), (3, 2 << 30));
        assert_eq!(config.delay, Delay { least: 5, most: 9 });
        assert_eq!(config.faults.len(), 2);
        assert_eq!(config.mistakes, ["PYGPU_SIM_MEMORY=lots is not understood"]);
    }
}
