#include "tessera/npy.h"
#include "tests/runtime/LibraryFile.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sys/wait.h>

using namespace tessera;
using deploy::NpyArray;
using tess::test::doublingProgram;
using tess::test::productProgram;
using tess::test::writeProductFile;

namespace {

struct Folder {
  std::string path = "/tmp/tess_run_XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }
};

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Ran {
  int code;
  std::string out, err;
};

Ran tessRun(const Folder &folder, const std::string &arguments) {
  std::string command = "tools/tess-run " + arguments + " >" + folder.file("out") + " 2>" + folder.file("err");
  int status = std::system(command.c_str());
  return {WEXITSTATUS(status), slurp(folder.file("out")), slurp(folder.file("err"))};
}

/// A folder with the program, an input of two rows, and labels of which one is right.
struct Prepared : Folder {
  Prepared() {
    writeProductFile(file("digits.tess"), {{"x86-64-v3", productProgram()}});
    const float x[] = {1, 0, 0, 0, 1, 1};
    const int64_t labels[] = {1, 0};
    REQUIRE(deploy::writeNpy(file("x.npy"), deploy::DType::Float32, {2, 3}, x));
    REQUIRE(deploy::writeNpy(file("y.npy"), deploy::DType::Int64, {2}, labels));
  }
};

} // namespace

TEST_CASE("tess-run reads, runs, writes and reports") {
  Prepared p;
  Ran ran = tessRun(p, p.file("digits.tess") + " --input x=" + p.file("x.npy") + " --output logits=" + p.file("o.npy") +
                           " --repeat 5 --threads 2 --verify --labels " + p.file("y.npy") + " --profile " +
                           p.file("trace.json"));
  CHECK(ran.err == "");
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("executable x86-64-v3, 2 threads, 1 launches") != std::string::npos);
  CHECK(ran.out.find("over 5 runs") != std::string::npos);
  CHECK(ran.out.find("samples/s (batch of 2)") != std::string::npos);
  CHECK(ran.out.find("outputs 16, constants 24), allocator grew by ") != std::string::npos);
  CHECK(ran.out.find("accuracy: 0.5000 (1 of 2)") != std::string::npos);
  NpyArray logits;
  REQUIRE(deploy::readNpy(p.file("o.npy"), logits));
  CHECK(logits.shape == deploy::Shape{2, 2});
  const float *values = reinterpret_cast<const float *>(logits.data.data());
  CHECK(std::vector<float>(values, values + 4) == std::vector<float>{1, 2, 8, 10});
  std::string trace = slurp(p.file("trace.json"));
  CHECK(trace.find("matmul") != std::string::npos);
}

TEST_CASE("tess-run goes on with the state from run to run") {
  Prepared p;
  writeProductFile(p.file("double.tess"), {{"x86-64-v3", doublingProgram()}});
  const float x[] = {1, 3};
  REQUIRE(deploy::writeNpy(p.file("x.npy"), deploy::DType::Float32, {1, 2}, x));
  Ran ran = tessRun(p, p.file("double.tess") + " --input " + p.file("x.npy") + " --output " + p.file("o.npy") +
                           " --repeat 3");
  CHECK(ran.err == "");
  CHECK(ran.out.find("constants 16, state 16), allocator grew by ") != std::string::npos);
  NpyArray y;
  REQUIRE(deploy::readNpy(p.file("o.npy"), y));
  CHECK(reinterpret_cast<const float *>(y.data.data())[1] == 12);
}

TEST_CASE("tess-run: one input and one output need no names") {
  Prepared p;
  Ran ran = tessRun(p, p.file("digits.tess") + " --input " + p.file("x.npy") + " --output " + p.file("o.npy"));
  CHECK(ran.code == 0);
  CHECK(std::filesystem::exists(p.file("o.npy")));
}

TEST_CASE("tess-run: what is wrong is one line and exit code 1") {
  Prepared p;
  std::string file = p.file("digits.tess"), x = p.file("x.npy");
  auto fails = [&](const std::string &arguments, const std::string &says) {
    Ran ran = tessRun(p, arguments);
    INFO(ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.err.find(says) != std::string::npos);
    CHECK(std::ranges::count(ran.err, '\n') == 1);
  };
  fails(file,
        "tess-run: input x must be given as --input x=<file>.npy, got none; it is f32[batch, 3] with batch in 1..512");
  fails(file + " --input z=" + x, "--input must be <name>=<file> with a name of x, got z=");
  fails(file + " --input x=" + x + " --output a=b", "--output must be <name>=<file> with a name of logits, got a=b");
  fails(file + " --input x=" + p.file("y.npy"), "input x must be f32[batch, 3] with batch in 1..512, got int64 in ");
  fails(file + " --input x=" + p.file("none.npy"), "none.npy: must be able to open the file, got No such file");
  fails(file + " --input x=" + file, "digits.tess: must be a .npy file, got another kind");
  fails(p.file("none.tess"), "none.tess: must be able to open the file, got No such file");
  fails(x, "x.npy: must be a .tess file, got a file of another kind");
  fails(file + " --no-code-from-file --input x=" + x, "code from the file must be allowed");
  fails(file + " --threads 9999 --input x=" + x, "count must be in 1..1024, got 9999");
  fails(file + " --input x=" + x + " --labels " + x, "--labels must have one label for each row");
}

TEST_CASE("tess-run prints the line to type when no code fits") {
  Prepared p;
  writeProductFile(p.file("graph.tess"), {});
  Ran ran = tessRun(p, p.file("graph.tess") + " --input " + p.file("x.npy"));
  CHECK(ran.code == 1);
  CHECK(ran.err.find("type: tess-compile " + p.file("graph.tess") + " -o " + p.file("graph.host.tess") +
                     " --target host\n") != std::string::npos);
}

TEST_CASE("tess-run: a file that is cut while it is loaded is an error, no signal") {
  Prepared p;
  std::string file = p.file("digits.tess");
  std::string command = "tools/tess-run " + file + " --input " + p.file("x.npy") + " --output " + p.file("o.npy") +
                        " --repeat 1000000 2>" + p.file("err") + " & pid=$!; until grep -q " + file +
                        " /proc/$pid/maps; do :; done; truncate -s 100 " + file + "; wait $pid";
  int status = std::system(command.c_str());
  std::string error = slurp(p.file("err"));
  INFO(error);
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(std::regex_match(error, std::regex(".*digits.tess: must keep its [0-9]+ bytes while it is loaded, got 100\n")));
  CHECK_FALSE(std::filesystem::exists(p.file("o.npy"))); // nothing that was computed from zeros
}

TEST_CASE("npy files keep dtype, shape and content, as NumPy writes them") {
  Folder folder;
  for (auto dtype :
       {deploy::DType::Float16, deploy::DType::Float32, deploy::DType::Float64, deploy::DType::Int8,
        deploy::DType::UInt8, deploy::DType::Int16, deploy::DType::Int32, deploy::DType::Int64, deploy::DType::Bool})
    for (const deploy::Shape &shape :
         {deploy::Shape{}, deploy::Shape{3}, deploy::Shape{2, 0, 3}, deploy::Shape{2, 3, 4}}) {
      std::vector<char> data(24 * 8);
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = char(i % 2);
      REQUIRE(deploy::writeNpy(folder.file("a.npy"), dtype, shape, data.data()));
      NpyArray array;
      REQUIRE(deploy::readNpy(folder.file("a.npy"), array));
      CHECK(array.dtype == dtype);
      CHECK(array.shape == shape);
      CHECK(std::equal(array.data.begin(), array.data.end(), data.begin()));
      CHECK(slurp(folder.file("a.npy")).find('\n') % 64 == 63); // the data is aligned
    }
}

TEST_CASE("npy files in column order are made row-major, bad ones refused") {
  Folder folder;
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
  header.append(127 - 10 - header.size(), ' ');
  header += '\n';
  auto write = [&](const std::string &text, const std::string &data) {
    std::ofstream(folder.file("f.npy"), std::ios::binary)
        << std::string("\x93NUMPY\x01\x00", 8) << char(text.size()) << '\0' << text << data;
  };
  write(header, "adbecf");
  NpyArray array;
  REQUIRE(deploy::readNpy(folder.file("f.npy"), array));
  CHECK(std::string(array.data.begin(), array.data.end()) == "abcdef");
  write(header, "adbe");
  CHECK(deploy::readNpy(folder.file("f.npy"), array).message.find("must have as many elements as its shape says") !=
        std::string::npos);
  std::string other = header;
  other.replace(other.find("|u1"), 3, ">f4");
  write(other, "adbecf");
  CHECK(deploy::readNpy(folder.file("f.npy"), array).message.find("little-endian number, got >f4") !=
        std::string::npos);
  std::string huge = header;
  huge.replace(huge.find("(2, 3), }   "), 12, "(99999999999");
  write(huge, "adbecf");
  CHECK_FALSE(deploy::readNpy(folder.file("f.npy"), array));
}
