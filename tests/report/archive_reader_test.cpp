// What an archive may claim, and what becomes of it: cuts at every byte, flipped bits, bounds.
#include "collector/report/archive_reader.hpp"

#include <sys/resource.h>

#include <random>

#include "tests/report/made_archives.hpp"

using namespace cozy;
using namespace made_archives;

namespace {

const std::string k_base = "./cozyreport/snapshots/k/";

std::string small_tar() {
  return tar_member(k_base + k_runner, proc_stat(1)) + tar_member("./cozyreport/other.log", "not ours\n") +
         tar_member(k_base + k_runner_2, proc_stat(2)) + k_tar_end;
}

/// What is read of it says no more than the whole has.
void check_part(const std::string& bytes) {
  const auto report = open_bytes(bytes);
  if (!report) return;
  CHECK(report->snapshots.size() <= 1);
  for (const int sample : {1, 2}) {
    const SampleCapture* file = runner_of(*report, sample);
    if (file == nullptr || file->capture.judgement.outcome != Outcome::complete) continue;
    CHECK(file->reading.number("cpu", "user") == static_cast<std::uint64_t>(sample));
  }
}

/// Makes the same bytes again and again.
class Repeated : public ByteSource {
 public:
  Repeated(std::string begin, std::string again, std::uint64_t times)
      : pending_(std::move(begin)), again_(std::move(again)), times_(times) {}

  std::size_t read(char* buffer, std::size_t size) override {
    if (at_ == pending_.size() && times_ > 0) {
      pending_ = again_;
      at_ = 0;
      --times_;
    }
    const std::size_t step = pending_.copy(buffer, size, at_);
    at_ += step;
    return step;
  }
  [[nodiscard]] std::string fault() const override { return {}; }

 private:
  std::string pending_;
  std::string again_;
  std::uint64_t times_;
  std::size_t at_ = 0;
};

/// Counts what it is given and wants what ends in "wanted".
class Counter : public MemberSink {
 public:
  std::size_t wants(const std::string& name) override { return name.ends_with("wanted") ? 1UL << 30U : 0; }
  void take(MemberFile file) override {
    bytes += file.text.size();
    ++files;
    if (!file.fault.empty()) fault = file.fault;
  }
  void refuse(const std::string&, const std::string&, const std::string&) override { ++refused; }
  void take_back(const std::string&, const std::string&, const std::string&) override { ++refused; }

  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t refused = 0;
  std::string fault;
};

ArchiveSummary summary_of(ByteSource& source, MemberSink& sink, const ArchiveLimits& limits) {
  ByteMeter meter{limits.bytes};
  return read_archive(source, meter, sink, limits);
}

std::string why(const ArchiveSummary& summary) { return join(summary.cuts, "; "); }

/// Most of the memory this process has had, KiB. Never falls.
long most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("a tgz cut at any byte is truncated, and what came before the cut is read", "[report][archive]") {
  const std::string whole = gzip(small_tar());
  CHECK_FALSE(report_of(whole).truncated);
  bool both = false;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    const std::string part = whole.substr(0, length);
    const auto report = open_bytes(part);
    CHECK(report.ok() == (length >= 3));
    if (report.ok()) CHECK(report->truncated);
    both = both || (report.ok() && runner_of(*report, 2) != nullptr);
    check_part(part);
  }
  CHECK(both);
}

TEST_CASE("a tar cut at any block is truncated, also where a member ends", "[report][archive]") {
  const std::string whole = small_tar();
  CHECK_FALSE(report_of(whole).truncated);
  CHECK_FALSE(report_of(whole + std::string(9000, '\0')).truncated);
  const std::string pax = tar_member("x", "20 comment=whatever\n", 'x') + whole;
  CHECK_FALSE(report_of(pax).truncated);
  CHECK(report_of(pax.substr(0, 512)).truncated);
  CHECK(report_of(pax.substr(0, 1030)).truncated);
  for (std::size_t length = 512; length < whole.size(); length += 64) {
    INFO(length);
    const Report report = report_of(whole.substr(0, length));
    CHECK(report.truncated);
    CHECK_FALSE(report.truncated_why.empty());
  }
  const Report cut = report_of(whole.substr(0, 512 + 40));
  REQUIRE(runner_of(cut) != nullptr);
  CHECK(runner_of(cut)->capture.judgement.outcome == Outcome::partial);
  CHECK(has(cut.truncated_why, k_runner));
}

TEST_CASE("behind a damaged header of a tar nothing is searched for", "[report][archive]") {
  std::string tar = small_tar();
  tar[1024] = '!';  // the name of the second member: its checksum does not fit any more
  const Report report = report_of(tar);
  CHECK(user_of(report) == 1);
  CHECK(runner_of(report, 2) == nullptr);
  CHECK(report.truncated);
  CHECK(has(report.truncated_why, "Damaged"));
  CHECK(report.refused.empty());
}

TEST_CASE("a zip cut at any byte is truncated", "[report][archive]") {
  for (const bool deflate : {false, true}) {
    for (const bool behind : {false, true}) {
      for (const bool wrapped : {false, true}) {
        INFO("deflate " << deflate << " sizes behind " << behind << " tgz " << wrapped);
        Zip zip({deflate, behind, false, 0x0800});
        if (wrapped)
          zip.add("cozyreport.tgz", gzip(small_tar()));
        else
          zip.add("x/" + k_base + k_runner, proc_stat(1)).add("x/" + k_base + k_runner_2, proc_stat(2));
        const std::string whole = zip.bytes();
        CHECK_FALSE(report_of(whole).truncated);
        for (std::size_t length = 4; length < whole.size(); ++length) {
          const std::string part = whole.substr(0, length);
          const Report report = report_of(part);
          if (!report.truncated) FAIL("not truncated at " << length);
          check_part(part);
        }
      }
    }
  }
}

TEST_CASE("flipped bits and random bytes never harm, and never pass as whole numbers of another value",
          "[report][archive]") {
  std::mt19937 random(20260821);
  const std::vector<std::string> seeds{
      gzip(small_tar()), Zip({false, true, false, 0}).add("r.tgz", gzip(small_tar())).bytes(),
      Zip().add(k_base + k_runner, proc_stat(1)).add(k_base + k_runner_2, proc_stat(2)).bytes(),
      Zip({true, false, false, 0}).add("cozyreport.tar", small_tar()).bytes()};
  SECTION("bits") {
    for (int round = 0; round < 4000; ++round) {
      std::string bytes = seeds[static_cast<std::size_t>(round) % seeds.size()];
      const std::size_t flips = 1 + random() % 4;
      for (std::size_t i = 0; i < flips; ++i) {
        char& byte = bytes[random() % bytes.size()];
        byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (random() % 8)));
      }
      (void)open_bytes(bytes);
    }
  }
  SECTION("a tgz whose checksum is wrong is not whole") {
    std::string bytes = seeds[0];
    bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
    const Report report = report_of(bytes);
    CHECK(report.truncated);
    CHECK(has(report.truncated_why, "damaged"));
  }
  SECTION("a member of a zip whose checksum is wrong is not whole") {
    std::string bytes = Zip({false, false, false, 0}).add(k_base + k_runner, proc_stat(1)).bytes();
    bytes[bytes.find("cpu  1") + 5] = '9';
    const Report report = report_of(bytes);
    CHECK(runner_of(report)->capture.judgement.outcome == Outcome::partial);
    CHECK(has(runner_of(report)->capture.judgement.reason, "checksum"));
  }
  SECTION("random bytes behind every beginning") {
    const std::vector<std::string> fronts{"", "\x1f\x8b\x08", "PK\x03\x04", "PK\x05\x06",
                                          std::string(small_tar(), 0, 600)};
    for (int round = 0; round < 1000; ++round) {
      std::string bytes = fronts[static_cast<std::size_t>(round) % fronts.size()];
      for (std::size_t left = random() % 3000; left > 0; --left) bytes += static_cast<char>(random());
      (void)open_bytes(bytes);
    }
  }
}

TEST_CASE("a member that says 2^60 bytes", "[report][archive]") {
  const std::uint64_t size = 1ULL << 60U;
  SECTION("one that does not matter") {
    const Report report =
        report_of(gzip(tar_member(k_base + k_runner, proc_stat(1)) + tar_header("huge.bin", size) + "few bytes"));
    CHECK(user_of(report) == 1);
    CHECK(report.truncated);
    CHECK(has(report.truncated_why, "huge.bin"));
  }
  SECTION("one that matters") {
    const std::string text = proc_stat(1);
    const Report report = report_of(tar_header(k_base + k_runner, size) + text);
    CHECK(report.truncated);
    REQUIRE(runner_of(report) != nullptr);
    CHECK(runner_of(report)->capture.judgement.outcome == Outcome::partial);
  }
  SECTION("stored in a zip") {
    std::string bytes = Zip({false, false, false, 0}).add("huge.bin", "few bytes").bytes();
    const std::string extra = little(1, 2) + little(16, 2) + little(size, 8) + little(size, 8);
    bytes.replace(18, 8, std::string(8, '\xff'));
    bytes.replace(28, 2, little(extra.size(), 2));
    bytes.insert(30 + 8, extra);
    const Report report = report_of(bytes);
    CHECK(report.truncated);
    CHECK(has(report.truncated_why, "huge.bin"));
  }
  SECTION("a sparse file with a hole of that size") {
    // GNU sparse 1.0 in pax: the map stands in front of the data.
    const auto record = [](const std::string& words) {
      std::string text = " " + words + "\n";
      return std::to_string(text.size() + 2) + text;
    };
    const std::string pax = record("GNU.sparse.major=1") + record("GNU.sparse.minor=0") +
                            record("GNU.sparse.name=" + k_base + k_runner) +
                            record("GNU.sparse.realsize=" + std::to_string(size));
    std::string map = "1\n" + std::to_string(size - 4) + "\n4\n";
    map.resize(512);
    const Report report = report_of(tar_member("x", pax, 'x') + tar_member("y", map + "tail") + k_tar_end);
    REQUIRE(runner_of(report) != nullptr);
    CHECK(runner_of(report)->capture.judgement.outcome == Outcome::unavailable);
    CHECK(has(notes_of(report), "longer than 16777216 bytes, cut"));
  }
}

TEST_CASE("a capture longer than the limit is read to the limit, which is named", "[report][archive]") {
  ArchiveLimits limits;
  limits.member_bytes = 1000;
  std::string text = proc_stat(1);
  text.insert(text.find('\n') + 1, "intr " + std::string(5000, '1') + "\n");
  const Report report = report_of(
      tar_member(k_base + k_runner, text) + tar_member(k_base + k_runner_2, proc_stat(2)) + k_tar_end, limits);
  CHECK(has(notes_of(report), k_runner + ": longer than 1000 bytes, cut"));
  CHECK(runner_of(report)->capture.judgement.outcome == Outcome::partial);
  CHECK(user_of(report, 2) == 2);
  CHECK_FALSE(report.truncated);
  limits.member_bytes = 4000;
  limits.kept_bytes = 4100;
  const Report full = report_of(
      tar_member(k_base + k_runner, text) + tar_member(k_base + k_runner_2, proc_stat(2)) + k_tar_end, limits);
  CHECK(has(notes_of(full), "may have 4100 bytes in all"));
}

TEST_CASE("members, bytes in and bytes out are bounded", "[report][archive]") {
  const std::string header = tar_member("a/b", "");
  ArchiveLimits limits;
  Counter counter;
  const long before = most_memory();
  SECTION("members") {
    limits.members = 100'000;
    Repeated many("", header, 1'000'000);
    CHECK(has(why(summary_of(many, counter, limits)), "100000 members"));
  }
  SECTION("members without a name to show") {
    Repeated many("", tar_member("/../x", ""), 100'000);
    (void)summary_of(many, counter, limits);
    CHECK(counter.refused == 100'000);
  }
  SECTION("a gzip bomb") {
    limits.bytes.expanded = 10'000'000;
    const std::string bomb = gzip(tar_header("huge", 1ULL << 40U) + std::string(30UL << 20U, '\0'));
    Repeated source(bomb, "", 0);
    CHECK(has(why(summary_of(source, counter, limits)), "expand to more"));
  }
  SECTION("a gzip bomb in a zip, deflated once more") {
    limits.bytes.expanded = 10'000'000;
    const std::string bomb = gzip(tar_header("huge", 1ULL << 40U) + std::string(30UL << 20U, '\0'));
    Repeated source(Zip().add("b.tgz", bomb).bytes(), "", 0);
    CHECK(has(why(summary_of(source, counter, limits)), "b.tgz: stopped"));
  }
  SECTION("a deflated member of a zip that nobody wants") {
    limits.bytes.expanded = 10'000'000;
    Repeated source(Zip().add("zeros", std::string(30UL << 20U, '\0')).add("wanted", "x").bytes(), "", 0);
    CHECK(has(why(summary_of(source, counter, limits)), "expand to more"));
    CHECK(counter.files == 0);
  }
  SECTION("bytes read") {
    limits.bytes.input = 5000;
    const Report report = report_of(small_tar() + std::string(9000, '\0'), limits);
    CHECK_FALSE(report.truncated);  // its end came before
    limits.bytes.input = 700;
    CHECK(has(report_of(small_tar(), limits).truncated_why, "700 bytes read"));
  }
  SECTION("kept files") {
    Repeated many(std::string(), tar_member("wanted", std::string(100'000, 'x')), 1000);
    (void)summary_of(many, counter, limits);
    CHECK(counter.bytes == limits.kept_bytes);
    CHECK(has(counter.fault, "in all"));
  }
  SECTION("empty members of gzip, one after the other") {
    Repeated many("", gzip(""), 200'000);
    (void)summary_of(many, counter, limits);
  }
  SECTION("special headers of tar, one after the other") {
    Repeated many("", tar_member("././@LongLink", std::string(600, 'n'), 'L'), 100'000);
    (void)summary_of(many, counter, limits);
  }
  SECTION("a name as long as a header allows") {
    Repeated many("", tar_member("././@LongLink", std::string(1'000'000, '/'), 'L') + header, 20);
    (void)summary_of(many, counter, limits);
    CHECK(counter.refused == 20);
  }
  CHECK(most_memory() - before < 200 * 1024);  // the sanitizers keep what was freed
}

TEST_CASE("half a gigabyte of other people's files takes no memory", "[report][archive]") {
  Counter counter;
  const long before = most_memory();
  const std::string begin = tar_member("wanted", "x") + tar_header("console.log", 512ULL << 20U);
  Repeated source(begin, std::string(1UL << 20U, 'l'), 512);
  (void)summary_of(source, counter, {});
  CHECK(counter.files == 1);
  CHECK(most_memory() - before < 64 * 1024);
}

TEST_CASE("members of a zip that cannot be read are named where they matter", "[report][archive]") {
  const std::string wanted = k_base + k_runner;
  SECTION("encrypted") {
    const Report report = report_of(Zip({true, false, false, 1}).add(wanted, "x").bytes());
    CHECK(refused_names(report) == wanted);
    CHECK(report.refused[0].reason == "encrypted");
    CHECK_FALSE(report.truncated);
  }
  SECTION("another method, and one behind it that can be read") {
    std::string bytes = Zip({true, false, false, 0}).add(wanted, "x").add(k_base + k_runner_2, proc_stat(2)).bytes();
    bytes[8] = 12;
    const Report report = report_of(bytes);
    CHECK(has(report.refused[0].reason, "method 12"));
    CHECK(user_of(report, 2) == 2);
  }
  SECTION("of unknown length") {
    const Report report = report_of(Zip({true, true, false, 1}).add(wanted, "x").bytes());
    CHECK(report.truncated);
    CHECK(has(report.truncated_why, "encrypted"));
  }
}

TEST_CASE("a member that holds the mark of a descriptor, stored without its size before it", "[report][archive]") {
  std::string text = proc_stat(1);
  text.insert(0, "PK\x07\x08PK\x07\x08PPK\x03\x04" + std::string(30, 'P') + "\n");
  const Report report = report_of(
      Zip({false, true, false, 0}).add(k_base + k_runner, text).add(k_base + k_runner_2, proc_stat(2)).bytes());
  CHECK(user_of(report) == 1);
  CHECK(user_of(report, 2) == 2);
  CHECK_FALSE(report.truncated);
}

TEST_CASE("gzip of several members, and what stands behind the ends", "[report][archive]") {
  const std::string tar = small_tar();
  const Report report = report_of(gzip(tar.substr(0, 700)) + gzip("") + gzip(tar.substr(700)));
  CHECK(user_of(report, 2) == 2);
  CHECK_FALSE(report.truncated);
  CHECK_FALSE(report_of(gzip(tar) + std::string(100, '\0')).truncated);
  const Report second = report_of(gzip(tar) + gzip(tar_member(k_base + k_runner, proc_stat(9)) + k_tar_end));
  CHECK(user_of(second) == 1);
  CHECK(has(notes_of(second), "behind the end of the tar"));
}
