#include "interp/code_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

// What gdb reads, and where it stops. Names and layout are its own.
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;  // 1: relevant_entry is new, 2: it goes
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
extern jit_descriptor __jit_debug_descriptor;
jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
void __jit_debug_register_code();
[[gnu::noinline]] void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace relay::interp {

namespace {

// An object file in memory: no code, but a section where the code lies, and its one symbol.
struct SymbolFile {
  SymbolFile(const std::string& name, std::uint64_t address, std::uint64_t size);

  Elf64_Ehdr header{};
  std::array<Elf64_Shdr, 4> sections{};  // none, code, symbols, names
  std::array<Elf64_Sym, 2> symbols{};
  std::array<char, 128> names{};
};

constexpr std::string_view kSectionNames("\0.text\0.symtab\0.strtab", 23);

SymbolFile::SymbolFile(const std::string& name, std::uint64_t address, std::uint64_t size) {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_version = EV_CURRENT;
  header.e_shoff = offsetof(SymbolFile, sections);
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = 3;
  std::memcpy(names.data(), kSectionNames.data(), kSectionNames.size());
  const std::size_t room = names.size() - kSectionNames.size() - 1;
  std::memcpy(names.data() + kSectionNames.size(), name.data(), std::min(room, name.size()));
  Elf64_Shdr& code = sections[1];
  code.sh_name = 1;
  code.sh_type = SHT_NOBITS;
  code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  code.sh_addr = address;
  code.sh_size = size;
  code.sh_addralign = 1;
  Elf64_Shdr& table = sections[2];
  table.sh_name = 7;
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = offsetof(SymbolFile, symbols);
  table.sh_size = sizeof(symbols);
  table.sh_link = 3;
  table.sh_info = 1;
  table.sh_addralign = alignof(Elf64_Sym);
  table.sh_entsize = sizeof(Elf64_Sym);
  Elf64_Shdr& text = sections[3];
  text.sh_name = 15;
  text.sh_type = SHT_STRTAB;
  text.sh_offset = offsetof(SymbolFile, names);
  text.sh_size = names.size();
  text.sh_addralign = 1;
  symbols[1].st_name = static_cast<Elf64_Word>(kSectionNames.size());
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  symbols[1].st_size = size;
}

struct Named {
  Named(const std::string& name, std::uint64_t address, std::uint64_t size)
      : file(name, address, size) {
    entry.symfile_addr = reinterpret_cast<const char*>(&file);
    entry.symfile_size = sizeof(file);
  }
  SymbolFile file;
  jit_code_entry entry{};
};

std::mutex naming;
int perf_file = -1;
bool is_named = false;
std::map<std::uint64_t, std::unique_ptr<Named>> known;  // by address

void tell_debugger(std::uint32_t action, jit_code_entry& entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_register_code();
}

void add_entry(jit_code_entry& entry) {
  entry.next_entry = __jit_debug_descriptor.first_entry;
  if (entry.next_entry != nullptr) entry.next_entry->prev_entry = &entry;
  __jit_debug_descriptor.first_entry = &entry;
  tell_debugger(1, entry);
}

void remove_entry(jit_code_entry& entry) {
  if (entry.prev_entry != nullptr) {
    entry.prev_entry->next_entry = entry.next_entry;
  } else {
    __jit_debug_descriptor.first_entry = entry.next_entry;
  }
  if (entry.next_entry != nullptr) entry.next_entry->prev_entry = entry.prev_entry;
  tell_debugger(2, entry);
}

}  // namespace

// Somebody else's file, or a link that stands under that name, is left alone.
void name_native_code() {
  const std::lock_guard lock(naming);
  if (is_named) return;
  is_named = true;
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  unlink(path.c_str());
  perf_file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void note_code(const std::string& name, const void* address, std::size_t size) {
  const std::lock_guard lock(naming);
  if (!is_named || address == nullptr || size == 0) return;
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const std::string line = fmt::format("{:x} {:x} {}\n", place, size, name);
  if (perf_file >= 0) (void)!write(perf_file, line.data(), line.size());
  std::unique_ptr<Named>& named = known[place];
  if (named) remove_entry(named->entry);
  named = std::make_unique<Named>(name, place, size);
  add_entry(named->entry);
}

void forget_code(const void* address, std::size_t size) {
  const std::lock_guard lock(naming);
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto first = known.lower_bound(place);
  const auto last = known.lower_bound(place + size);
  for (auto each = first; each != last; ++each) remove_entry(each->second->entry);
  known.erase(first, last);
}

}  // namespace relay::interp
