"""A real Spark cluster on this machine: a master and two workers of one core each, on the loopback network."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SETTINGS = {
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    # Tests are short: compiling plans would take most of their time.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


class Cluster:
    """Starts on entry, and ends all of its processes on exit."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="onecopy-spark-")
        self.workers, self.session = [], None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        call = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(self.port)]
        self.master = self._start("master", *call, "--webui-port", "0")
        deadline = time.monotonic() + 60
        while not self._listens():
            assert self.master.poll() is None and time.monotonic() < deadline, self._log("master")
            time.sleep(0.2)
        for _ in range(2):
            self.add_worker()
        return self

    @property
    def address(self):
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, name, *call):
        import pyspark

        home = os.path.dirname(pyspark.__file__)
        environment = {**os.environ, "SPARK_HOME": home, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        environment["SPARK_LOCAL_DIRS"] = os.path.join(self.folder, "local")
        log = open(os.path.join(self.folder, f"{name}.log"), "ab")
        with log:
            return subprocess.Popen(
                [os.path.join(home, "bin", "spark-class"), *call],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True,
            )

    def _log(self, name):
        with open(os.path.join(self.folder, f"{name}.log")) as log:
            return log.read()[-2000:]

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def add_worker(self):
        call = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"]
        folder = os.path.join(self.folder, f"work{len(self.workers)}")
        name = f"worker{len(self.workers)}"
        self.workers.append(self._start(name, *call, "--memory", "1g", "--work-dir", folder, self.address))

    def kill_worker(self):
        """Kills a worker and its executors, without a word to anyone."""
        kill(self.workers.pop(0))

    def spark(self, **settings):
        """The session of all tests."""
        if self.session is None:
            from pyspark.sql import SparkSession

            os.environ["PYSPARK_PYTHON"] = sys.executable
            builder = SparkSession.builder.master(self.address).appName("onecopy")
            for name, value in SETTINGS.items():
                builder = builder.config(name, value)
            self.session = builder.getOrCreate()
            self.session.sparkContext.setLogLevel("OFF")
            self._wait_for_executors()
        return self.session

    def _wait_for_executors(self):
        status = self.session.sparkContext._jsc.sc().statusTracker()
        deadline = time.monotonic() + 60
        # The driver counts as one.
        while len(status.getExecutorInfos()) < 3 and time.monotonic() < deadline:
            time.sleep(0.2)

    def __exit__(self, *_):
        if self.session is not None:
            self.session.stop()
        for process in [*self.workers, self.master]:
            kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
