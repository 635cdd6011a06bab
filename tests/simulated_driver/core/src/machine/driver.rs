//! Defines the driver object that the CUDA and HIP libraries use.

use std::sync::{Arc, OnceLock};

use crate::config::Config;
use crate::fault::Faults;
use crate::kernel::Modules;
use crate::state::{Locked, Shared};
use crate::texture::Textures;

/// The simulated driver and its devices.
pub struct Driver {
    /// Settings, which were read when the driver started.
    pub config: Config,
    /// Injected faults.
    pub faults: Faults,
    pub(crate) modules: Modules,
    pub(crate) textures: Textures,
    pub(crate) shared: Arc<Shared>,
}

static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();

impl Driver {
    /// Creates a driver for one test, independent of the driver of the process.
    ///
    /// # Errors
    /// Returns the error of the operating system if it provides too little memory.
    pub fn new(config: Config) -> std::io::Result<Self> {
        let faults = Faults::default();
        config.faults.iter().for_each(|fault| faults.arm(fault.clone()));
        let shared = Shared::new(&config)?;
        Ok(Self { config, faults, modules: Modules::default(), textures: Textures::default(), shared })
    }

    /// Returns the driver of the process, which the first call creates with the settings in environment variables.
    /// Returns `None` if the system provides too little memory. Also returns `None` in a forked child, where the
    /// driver's threads do not exist and another thread may hold its lock forever.
    pub fn of_process() -> Option<&'static Self> {
        if crate::exit::is_forked() {
            return None;
        }
        let made = DRIVER.get_or_init(|| {
            let config = Config::from_variables(|name| std::env::var(name).ok());
            crate::exit::watch();
            Self::new(config).ok()
        });
        made.as_ref()
    }

    /// Returns the driver of the process, or `None` if it was not created yet.
    pub(crate) fn if_made() -> Option<&'static Self> {
        DRIVER.get()?.as_ref()
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        self.shared.lock()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let mut state = self.lock();
        state.ended = true;
        state.streams.values().for_each(|stream| stream.wake.notify_all());
        drop(state);
        self.shared.progress.notify_all();
    }
}
