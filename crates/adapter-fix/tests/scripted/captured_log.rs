//! The log of this process: sessions run in threads of their own, so it is caught for all of them at once.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Level;

/// Collects what is logged.
#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl io::Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

static LOG: LazyLock<LogBuffer> = LazyLock::new(|| {
    let log = LogBuffer::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(Level::DEBUG).with_ansi(false);
    tracing::subscriber::set_global_default(subscriber.with_writer(move || writer.clone()).finish()).unwrap();
    log
});

/// From now on everything is caught.
pub(crate) fn catch_log() {
    LazyLock::force(&LOG);
}

/// Lines of that target with that text, from behind the target. Other tests of the process have lines too.
pub(crate) fn logged(target: &str, text: &str) -> Vec<String> {
    let log = String::from_utf8(LOG.0.lock().unwrap().clone()).unwrap();
    let of_target = log.lines().filter_map(|line| line.split_once(&format!(" {target}: ")));
    of_target.map(|(_, line)| line.to_owned()).filter(|line| line.contains(text)).collect()
}
