// Writes Bazel's test XML, one case for each TEST_CASE, beside the console
// reporter: Catch2's own junit reporter would replace the console's output and
// count sections.
#ifndef TESSERA_TOOLS_BAZEL_CATCH2_JUNITLISTENER_H
#define TESSERA_TOOLS_BAZEL_CATCH2_JUNITLISTENER_H

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

namespace tess_test {

inline std::string escapeXml(const std::string &text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\n':
      out += "&#10;";
      break;
    default:
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

struct JUnitListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo &info) override {
    TestEventListenerBase::testCaseStarting(info);
    failure.clear();
    skipReason.clear();
    caseStart = std::chrono::steady_clock::now();
  }

  bool assertionEnded(const Catch::AssertionStats &stats) override {
    const Catch::AssertionResult &result = stats.assertionResult;
    if (!result.isOk() && failure.empty())
      failure = describe(result);
    const std::string marker = "skipped: ";
    if (result.getResultType() == Catch::ResultWas::Warning && std::string(result.getMessage()).rfind(marker, 0) == 0)
      skipReason = std::string(result.getMessage()).substr(marker.size());
    return false;
  }

  void testCaseEnded(const Catch::TestCaseStats &stats) override {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - caseStart).count();
    cases += "  <testcase classname=\"" + escapeXml(target()) + "\" name=\"" + escapeXml(stats.testInfo.name) +
             "\" time=\"" + std::to_string(seconds) + "\">";
    if (stats.totals.assertions.failed)
      cases += "<failure message=\"" + escapeXml(failure) + "\"/>";
    else if (!skipReason.empty())
      cases += "<skipped message=\"" + escapeXml(skipReason) + "\"/>";
    cases += "</testcase>\n";
    TestEventListenerBase::testCaseEnded(stats);
  }

  void testRunEnded(const Catch::TestRunStats &stats) override {
    if (const char *path = std::getenv("XML_OUTPUT_FILE"))
      std::ofstream(path) << "<testsuites><testsuite name=\"" << escapeXml(target()) << "\">\n"
                          << cases << "</testsuite></testsuites>\n";
    TestEventListenerBase::testRunEnded(stats);
  }

private:
  static std::string target() {
    const char *name = std::getenv("TEST_TARGET");
    return name ? name : "catch2";
  }

  static std::string describe(const Catch::AssertionResult &result) {
    Catch::SourceLineInfo at = result.getSourceInfo();
    return std::string(at.file) + ":" + std::to_string(at.line) + ": " + result.getExpression() + " " +
           std::string(result.getMessage());
  }

  std::string cases, failure, skipReason;
  std::chrono::steady_clock::time_point caseStart;
};

} // namespace tess_test

#endif // TESSERA_TOOLS_BAZEL_CATCH2_JUNITLISTENER_H
