//! Describes the machine on which figures were measured: they mean little without it.

use std::process::Command;

use serde::Serialize;

/// The machine and its tools. Facts that cannot be determined are `unknown`.
#[derive(Serialize)]
pub struct Machine {
    processor: String,
    cores: usize,
    memory_gb: f64,
    /// The load average over the last minute at the start of the measurement.
    load: String,
    rustc: String,
    python: String,
}

impl Machine {
    /// Inspects this machine.
    pub fn this() -> Machine {
        let processors = read("/proc/cpuinfo");
        let memory = read("/proc/meminfo");
        let kilobytes =
            field(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        Machine {
            processor: field(&processors, "model name").unwrap_or("unknown processor").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: kilobytes.unwrap_or(0.0) * 1024.0 / 1e9,
            load: read("/proc/loadavg").split(' ').next().unwrap_or("unknown").to_owned(),
            rustc: version("rustc"),
            python: version("python3"),
        }
    }

    /// A one-line description.
    pub fn line(&self) -> String {
        let Machine { processor, cores, memory_gb, load, rustc, python } = self;
        format!("{processor}, {cores} cores, {memory_gb:.0} GB, load {load}; {rustc}; {python}")
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.lines().find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim())
}

fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|_| format!("{program} unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "MemFree:  1 kB\nMemTotal:       24000 kB\n";
        assert_eq!(field(text, "MemTotal"), Some("24000 kB"));
        assert_eq!(field(text, "Swap"), None);
        assert!(Machine::this().cores > 0);
    }
}
