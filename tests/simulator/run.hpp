// What drivers of generated kernels ask of an instruction library (`tests/host_isa`), on the CPU simulator of the public pto-isa headers.
//
// A kernel runs in a process of its own: the simulator ends it where a rule is broken.
#pragma once

// The header uses it and does not include it.
#include <cstdint>

#include <pto/pto-inst.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace host {

// The simulator does not check accesses to global memory.
inline std::map<const char*, size_t>& tensors()
{
    static std::map<const char*, size_t> known;
    return known;
}

// Runs the two kernels of a pair side by side, that of the vector core on both of its units.
inline void cores(std::function<void()> cube, std::function<void()> vector)
{
    auto on = [](uint32_t unit, uint32_t units, const std::function<void()>& kernel) {
        return std::thread([=] {
            pto::cpu_sim::set_execution_context(0, unit, units);
            kernel();
        });
    };
    std::thread threads[] = {on(0, 1, cube), on(0, 2, vector), on(1, 2, vector)};
    for (auto& thread : threads) thread.join();
}

// Runs a kernel; what went wrong.
inline std::string attempt(std::function<void()> kernel)
{
    std::fflush(stdout);
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        alarm(120);
        kernel();
        std::fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, size_t(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    if (auto assertion = said.find("Assertion "); assertion != std::string::npos) said.erase(0, assertion);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    for (char& byte : said) byte = byte == '\n' ? ' ' : byte;
    return said.empty() ? "signal " + std::to_string(WTERMSIG(status)) : said;
}

} // namespace host
