#pragma once

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "collector/report/open.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

/// Archives made byte by byte, so that they can be as wrong as they like.
namespace made_archives {

/// One member of a tar of ustar's form. `size` may lie.
inline std::string tar_header(const std::string& name, std::uint64_t size, char type = '0',
                              const std::string& target = "") {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  const auto octal = [&](std::size_t at, std::size_t width, std::uint64_t number) {
    std::string digits(width - 1, '0');
    for (std::size_t i = digits.size(); i-- > 0; number >>= 3U) digits[i] = static_cast<char>('0' + (number & 7U));
    put(at, digits);
  };
  put(0, name.substr(0, 100));
  octal(100, 8, 0644);
  octal(108, 8, 0);
  octal(116, 8, 0);
  if (size < (1ULL << 33U)) {
    octal(124, 12, size);
  } else {  // base 256
    header[124] = '\x80';
    for (std::size_t i = 0; i < 8; ++i) header[135 - i] = static_cast<char>(size >> (8 * i));
  }
  octal(136, 12, 1755760000);
  header[156] = type;
  put(157, target);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(148, "        ");
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  octal(148, 7, sum);
  return header;
}

inline std::string tar_member(const std::string& name, const std::string& text, char type = '0',
                              const std::string& target = "") {
  std::string member = tar_header(name, text.size(), type, target) + text;
  member.resize((member.size() + 511) / 512 * 512);
  return member;
}

inline const std::string k_tar_end(1024, '\0');

inline std::string deflated(const std::string& text, int window_bits) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string gzip(const std::string& text) { return deflated(text, MAX_WBITS + 16); }

inline std::string little(std::uint64_t number, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

/// How the members of a zip are written.
struct ZipForm {
  bool deflate = true;
  bool sizes_behind = true;  ///< as all that writes to a pipe does, the artifacts of GitHub among them
  bool zip64 = false;        ///< sizes of 64 bits behind the member
  unsigned flags = 0x0800;   ///< names are UTF-8
};

class Zip {
 public:
  explicit Zip(ZipForm form = {}) : form_(form) {}

  Zip& add(const std::string& name, const std::string& text, std::uint32_t mode = 0100644) {
    const std::string packed = form_.deflate ? deflated(text, -MAX_WBITS) : text;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
    const unsigned flags = form_.flags | (form_.sizes_behind ? 8U : 0U);
    const std::string method_and_time = little(form_.deflate ? 8 : 0, 2) + little(0x6000, 2) + little(0x5b15, 2);
    const std::string sizes = little(crc, 4) + little(packed.size(), 4) + little(text.size(), 4);
    const std::size_t offset = bytes_.size();
    bytes_ += "PK\x03\x04" + little(20, 2) + little(flags, 2) + method_and_time +
              (form_.sizes_behind ? std::string(12, '\0') : sizes) + little(name.size(), 2) + little(0, 2) + name +
              packed;
    const std::size_t width = form_.zip64 ? 8 : 4;
    if (form_.sizes_behind) {
      bytes_ += "PK\x07\x08" + little(crc, 4) + little(packed.size(), width) + little(text.size(), width);
    }
    directory_ += "PK\x01\x02" + little(0x0314, 2) + little(20, 2) + little(flags, 2) + method_and_time + sizes +
                  little(name.size(), 2) + std::string(8, '\0') + little(std::uint64_t{mode} << 16U, 4) +
                  little(offset, 4) + name;
    ++count_;
    return *this;
  }

  [[nodiscard]] std::string bytes() const {
    return bytes_ + directory_ + "PK\x05\x06" + std::string(4, '\0') + little(count_, 2) + little(count_, 2) +
           little(directory_.size(), 4) + little(bytes_.size(), 4) + little(0, 2);
  }
  /// Without its directory.
  [[nodiscard]] const std::string& members() const { return bytes_; }

 private:
  ZipForm form_;
  std::string bytes_;
  std::string directory_;
  unsigned count_ = 0;
};

/// An archive in memory, opened as a file that has no name.
inline cozy::Result<cozy::Report> open_bytes(const std::string& bytes, const cozy::ArchiveLimits& limits = {}) {
  const int file = ::memfd_create("archive", MFD_CLOEXEC);
  REQUIRE(file >= 0);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file, bytes.data() + at, bytes.size() - at);
    REQUIRE(written > 0);
    at += static_cast<std::size_t>(written);
  }
  ::lseek(file, 0, SEEK_SET);
  auto report = cozy::open_report_archive(file, "x", limits);
  ::close(file);
  return report;
}

inline cozy::Report report_of(const std::string& bytes, const cozy::ArchiveLimits& limits = {}) {
  auto report = open_bytes(bytes, limits);
  REQUIRE(report.ok());
  return std::move(*report);
}

inline std::string fixture(const std::string& path) {
  std::ifstream file(std::string(COZY_FIXTURES) + "/cases/" + path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string refused_names(const cozy::Report& report) {
  std::vector<std::string> names;
  for (const cozy::RefusedEntry& entry : report.refused) names.push_back(entry.name);
  return cozy::join(names, ", ");
}

inline std::string notes_of(const cozy::Report& report) { return cozy::join(report.notes, "\n"); }

inline bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

inline const std::string k_runner = "runner-kernel-cpu-time/sample-1/proc-stat.txt";
inline const std::string k_runner_2 = "runner-kernel-cpu-time/sample-2/proc-stat.txt";

/// A whole file of the shell with a number to know it by.
inline std::string proc_stat(int user) {
  return "cpu  " + std::to_string(user) +
         " 0 2 3 0 0 0 0 0 0\n[a sentence]\n[read attempted from 1755763201 to 1755763202 epoch seconds]\n\n"
         "[capture exit code: 0]\n";
}

inline const cozy::SampleCapture* runner_of(const cozy::Report& report, int sample = 1, std::size_t snapshot = 0) {
  if (report.snapshots.size() <= snapshot) return nullptr;
  return report.snapshots[snapshot].find("runner-kernel-cpu-time", sample);
}

inline std::uint64_t user_of(const cozy::Report& report, int sample = 1) {
  const cozy::SampleCapture* file = runner_of(report, sample);
  REQUIRE(file != nullptr);
  return file->reading.number("cpu", "user").value_or(0);
}

}  // namespace made_archives
