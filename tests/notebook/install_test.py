"""`relay kernel` as a command: where it installs the kernel, what it says of misuse."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest


def relay(*arguments):
    return subprocess.run([os.environ["RELAY"], "kernel", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


class InstallTest(unittest.TestCase):
    def test_install_and_uninstall_below_a_prefix(self):
        with tempfile.TemporaryDirectory() as prefix:
            folder = pathlib.Path(prefix) / "share/jupyter/kernels/relay"
            done = relay("install", "--prefix", prefix)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"installed {folder}\n", ""))
            spec = json.loads((folder / "kernel.json").read_text())
            self.assertEqual(spec["argv"][1:], ["run", "-f", "{connection_file}"])
            self.assertTrue(os.access(spec["argv"][0], os.X_OK))
            self.assertTrue((folder / "logo-svg.svg").read_text().startswith("<svg"))
            self.assertTrue((folder / "logo-64x64.png").read_bytes().startswith(b"\x89PNG"))
            self.assertEqual(relay("install", "--prefix", prefix).returncode, 0)  # again
            done = relay("uninstall", "--prefix", prefix)
            self.assertEqual((done.returncode, done.stdout), (0, f"removed {folder}\n"))
            self.assertFalse(folder.exists())
            done = relay("uninstall", "--prefix", prefix)
            self.assertEqual((done.returncode, done.stderr), (1, f"relay: {folder} is not there\n"))

    def test_a_folder_that_cannot_be_written(self):
        with tempfile.NamedTemporaryFile() as file:
            done = relay("install", "--prefix", file.name)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^relay: .*: Not a directory\n$")

    def test_misuse(self):
        for arguments in [(), ("nothing",), ("install", "--user", "--prefix", "/x"), ("run",), ("install", "more")]:
            with self.subTest(arguments=arguments):
                done = relay(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith("relay: "))

    def test_a_file_that_describes_no_connection(self):
        done = relay("run", "-f", "/dev/null")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/null is no connection file of Jupyter", done.stderr)
        self.assertEqual(relay("run", "-f", "/nowhere.json").returncode, 2)

    def test_help(self):
        done = relay("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("uninstall", done.stdout)


if __name__ == "__main__":
    unittest.main()
