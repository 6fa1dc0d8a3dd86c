//! The Python package: maturin builds a wheel, pip installs it, and its tests and guides run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::tempdir;

use crate::python::{Python, run};

const PACKAGES: [&str; 6] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "datasets==5.2.0",
];
/// pyspark brings Spark itself. Java must be there.
const SPARK_PACKAGES: [&str; 5] =
    ["maturin==1.16.0", "pytest==9.2.0", "pandas==3.1.1", "pyarrow==26.0.1", "pyspark==4.0.1"];
/// The oldest Spark that is supported. It needs `distutils`, which newer versions of Python lack.
const OLD_SPARK_PACKAGES: [&str; 5] =
    ["maturin==1.16.0", "pytest==9.2.0", "pandas==3.1.1", "pyarrow==26.0.1", "pyspark==3.5.9"];
/// One test of each kind for the oldest Spark: rows, files, an update and the script.
const OLD_SPARK_TESTS: [&str; 4] = [
    "tests/test_spark.py::test_the_answer_is_that_of_one_machine",
    "tests/test_spark_files.py::test_kept_rows_are_copied",
    "tests/test_spark_update.py::test_small_updates_know_pages_by_numbers",
    "tests/test_spark_input.py::test_spark_submit_runs_the_script",
];
const SPARK_TESTS: [&str; 6] = [
    "tests/test_cluster_files.py",
    "tests/test_spark.py",
    "tests/test_spark_input.py",
    "tests/test_spark_files.py",
    "tests/test_spark_update.py",
    "tests/spark.md",
];
/// The first build compiles all dependencies.
const BUILDING: Duration = Duration::from_secs(1_200);
const TESTING: Duration = Duration::from_secs(240);
/// The time limit of the tests on a cluster. They start seven programs on the cores of this machine.
const ON_SPARK: Duration = Duration::from_secs(1_200);

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../onecopy-python")
}

/// Builds the wheel below the target folder, and installs it into `site`.
fn install(python: &Python, site: &Path) -> Result<(), String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").to_owned();
    let wheels = tempdir().expect("a folder");
    let mut build = python.command();
    build.args(["-m", "maturin", "build", "--locked", "--profile", "dev"]);
    // The features of this build, so that the wheel takes the engine from it.
    build.args(["--features", "shared-build", "--out"]).arg(wheels.path());
    // Cargo tells this test about its own package. Build scripts would see that and run again.
    let is_told = |name: &str| ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|start| name.starts_with(start));
    for (name, _) in env::vars_os().filter(|(name, _)| is_told(&name.to_string_lossy())) {
        build.env_remove(name);
    }
    build.arg("--manifest-path").arg(package().join("Cargo.toml")).env("CARGO_TARGET_DIR", target);
    // maturin moves the library away that cargo has built. Tests of other processes build at the same time.
    let turn = fs::File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("wheel.lock")).expect("a file");
    turn.lock().expect("a turn to build");
    run(&mut build, BUILDING)?;
    drop(turn);
    let made = fs::read_dir(wheels.path()).expect("a folder").flatten().map(|entry| entry.path());
    let wheels: Vec<PathBuf> = made.collect();
    let [wheel] = &wheels[..] else { return Err(format!("not one wheel, but {wheels:?}")) };
    assert!(wheel.to_string_lossy().contains("cp310-abi3"), "{wheel:?} is for one version of Python only");
    let mut pip = python.command();
    pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target"]);
    run(pip.arg(site).arg(wheel), TESTING)
}

#[test]
fn the_wheel_passes_its_tests() {
    let python = match Python::with(&PACKAGES, "maturin, pytest, pandas, polars, pyarrow, datasets") {
        Ok(python) => python,
        Err(why) => return println!("skipped: Python, pip or its packages are missing: {why}"),
    };
    let site = tempdir().expect("a folder");
    install(&python, site.path()).expect("a wheel");
    // Away from the sources, so that only the wheel is imported.
    let aside = tempdir().expect("a folder");
    for name in ["tests", "README.md"] {
        let copied = Command::new("cp").arg("-r").arg(package().join(name)).arg(aside.path()).status();
        assert!(copied.is_ok_and(|status| status.success()), "cannot copy {name}");
    }
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(pages.join("docs/guides/python.md"), aside.path().join("python.md")).expect("the guide");
    fs::copy(pages.join("README.md"), aside.path().join("main.md")).expect("the README");
    let mut tests = python.beside(site.path());
    tests.current_dir(aside.path()).args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]);
    tests.args([
        "--doctest-modules",
        // Some modules need pyspark, which is not here.
        "--doctest-ignore-import-errors",
        "--doctest-glob=*.md",
        "onecopy",
        "tests",
        "README.md",
        "python.md",
        "main.md",
    ]);
    run(&mut tests, TESTING).expect("all tests pass");
}

#[test]
fn the_wheel_gives_the_same_answer_on_a_spark_cluster() {
    if run(Command::new("java").arg("-version"), TESTING).is_err() {
        return println!("skipped: Spark needs Java, which is not installed");
    }
    // One after the other: a cluster keeps all cores busy.
    on_spark(&SPARK_PACKAGES, "maturin, pytest, pandas, pyarrow, pyspark", &SPARK_TESTS);
    let imports = "maturin, pytest, pandas, pyarrow, pyspark, distutils.version";
    on_spark(&OLD_SPARK_PACKAGES, imports, &OLD_SPARK_TESTS);
}

/// Runs tests on a cluster of the Spark in `packages`, or says why not.
fn on_spark(packages: &[&str], imports: &str, chosen: &[&str]) {
    let python = match Python::with(packages, imports) {
        Ok(python) => python,
        Err(why) => return println!("skipped: {} cannot be installed: {why}", packages.join(", ")),
    };
    let site = tempdir().expect("a folder");
    install(&python, site.path()).expect("a wheel");
    let aside = tempdir().expect("a folder");
    let copied = Command::new("cp").arg("-r").arg(package().join("tests")).arg(aside.path()).status();
    assert!(copied.is_ok_and(|status| status.success()), "cannot copy the tests");
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/spark.md");
    fs::copy(guide, aside.path().join("tests/spark.md")).expect("the guide");
    let mut tests = python.beside(site.path());
    tests.current_dir(aside.path()).args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    run(tests.arg("--doctest-glob=*.md").args(chosen), ON_SPARK).expect("all tests pass");
}
