"""Another project finds the installed library: find_package(gih), gih::gih."""
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GIH_BUILD"])

CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C CXX)
find_package(gih 0.1 REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE gih::gih)
"""
PROGRAM = """
#include <cstdio>
#include <gih/model/table_engine.hpp>
int main() {
  gih::DataSpec data;
  data.train = 50;
  const gih::Prompts prompts = gih::build_prompts(data, {}, gih::Split::train, 1);
  const auto engine = gih::make_table_engine({}, {0.1}, prompts, 1);
  gih::Parameters theta;
  theta.w = gih::Matrix::Identity(3, 3);
  theta.c = Eigen::VectorXd::Ones(7);
  theta.a = 1.0;
  std::printf("%.6f\\n", engine->loss(theta));
}
"""


def run(*command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def cache(name):
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


class Install(unittest.TestCase):
    def test_found_by_another_project(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("cmake", "--install", str(BUILD), "--prefix", str(folder / "prefix"))
            user = folder / "user"
            user.mkdir()
            (user / "CMakeLists.txt").write_text(CMAKE)
            (user / "user.cpp").write_text(PROGRAM)
            flags = f"-fsanitize={cache('GIH_SANITIZE')}" if cache("GIH_SANITIZE") else ""
            run("cmake", "-S", str(user), "-B", str(user / "build"),
                f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", f"-DCMAKE_CXX_FLAGS={flags}",
                f"-DCMAKE_CXX_COMPILER={cache('CMAKE_CXX_COMPILER')}", "-DCMAKE_BUILD_TYPE=Debug")
            run("cmake", "--build", str(user / "build"))
            loss = float(run(str(user / "build" / "user")))
            self.assertTrue(0.1 < loss < 3.0, loss)
            program = run(str(folder / "prefix" / "bin" / "gih"), "--version")
            self.assertIn("gih 0.1", program)


if __name__ == "__main__":
    unittest.main()
