//! The driver as the export layers see it.

use std::sync::{Arc, OnceLock};

use crate::config::Config;
use crate::fault::Faults;
use crate::kernel::Modules;
use crate::state::{Locked, Shared};
use crate::texture::Textures;

/// A simulated driver.
pub struct Driver {
    /// What it was started with.
    pub config: Config,
    /// The planted faults.
    pub faults: Faults,
    pub(crate) modules: Modules,
    pub(crate) textures: Textures,
    pub(crate) shared: Arc<Shared>,
}

static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();

impl Driver {
    /// A driver of one's own.
    ///
    /// # Errors
    /// The system's, where there is no memory to be had.
    pub fn new(config: Config) -> std::io::Result<Self> {
        let faults = Faults::default();
        config.faults.iter().for_each(|fault| faults.arm(fault.clone()));
        let shared = Shared::new(&config)?;
        Ok(Self { config, faults, modules: Modules::default(), textures: Textures::default(), shared })
    }

    /// The driver of the process, made from the environment on first use; `None` where there is no memory for it, and in a
    /// forked child, where its threads are missing and its lock may be held for ever.
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

    /// The driver of the process if it was ever used.
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
