// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// From files to metrics, beside what each stage reaches alone in the same run. Needs neither Qt nor a display.
//   bench_pipeline FOLDER [--gb N] [--vocab N] [--runs N] [--engine cpu|cuda] [--threads N] [--contiguous]
//                  [--gzip LEVEL] [--cold]
// Makes FOLDER/base.h5 and FOLDER/run.h5, run2.h5 ... (bfloat16, noise 0.15; N GB together, default 2 GB, one run), or
// takes those of an earlier call as they are. Stages, each the best of three rounds that measure all of them, over the
// baseline and the first run:
//   pread    raw bytes of both files by as many threads as the program reads with
//   reading  rows into the engine's buffers and their hashes, with nobody computing
//   engine   rows that are in such a buffer already: for a GPU with the way over the bus
//   whole    files to metrics
//   runs     (with --runs) all runs at once, and one after the other
// Beside the wall time stands the processor time a GB took: where all cores are busy with it, that is what sets the
// pace. With an engine that keeps rows, the first pair once more in both directions: nothing is read then.

#include "core/analysis/compute.h"
#include "core/analysis/row_stream.h"
#include "core/trace/open.h"
#include "core/trace/writer.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace flipscope;

namespace {

struct Options {
    std::filesystem::path folder;
    double gigabytes = 2;
    int vocab = 248320, threads = 0, gzip = 0, runs = 1;
    bool contiguous = false, cold = false;
    EngineChoice engine = EngineChoice::Cpu;
};

double wall()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T>
T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "bench_pipeline: %s\n", result.error().message.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

/// Rows of bfloat16 noise from one pool, entered at another place in every row.
class NoiseRows : public RowSource {
public:
    NoiseRows(std::int64_t rows, std::int64_t vocab, float noise)
        : rows_(rows), vocab_(vocab), pool_(static_cast<std::size_t>(vocab) + 65536)
    {
        std::mt19937 random(1);
        std::mt19937 other(2);
        std::normal_distribution<float> normal;
        for (std::uint16_t& bits : pool_) {
            const float l = 2.5F * normal(random) - 1 + noise * normal(other);
            const auto u = std::bit_cast<std::uint32_t>(l);
            bits = static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
        }
    }
    LogitType type() const override { return LogitType::BF16; }
    std::int64_t rows() const override { return rows_; }
    std::int64_t columns() const override { return vocab_; }
    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        const auto bytes = static_cast<std::size_t>(row_bytes());
        for (std::int64_t i = 0; i < count; ++i) {
            const auto row = static_cast<std::size_t>(first + i);
            std::byte* to = out.data() + static_cast<std::size_t>(i) * bytes;
            std::memcpy(to, pool_.data() + row * 7919 % 65536, bytes);
            const std::uint16_t top = 0x4190; // 18
            std::memcpy(to + 2 * (row * 7919 % static_cast<std::size_t>(vocab_)), &top, 2);
        }
        return {};
    }

private:
    std::int64_t rows_, vocab_;
    std::vector<std::uint16_t> pool_;
};

void make_file(const Options& options, const std::string& name, float noise)
{
    const auto path = options.folder / (name + ".h5");
    if (std::filesystem::exists(path))
        return;
    const auto rows = static_cast<std::int64_t>(options.gigabytes * 1e9 / (2.0 * (1 + options.runs) * options.vocab));
    Trace trace;
    trace.run_name = name;
    trace.probes.n_vocab = options.vocab;
    trace.probes.rows = std::make_shared<NoiseRows>(rows, options.vocab, noise);
    for (std::int64_t i = 0; i < rows; ++i)
        trace.probes.positions.push_back(i);
    for (std::int64_t i = 0; i <= rows; ++i)
        trace.tokens.ids.push_back(static_cast<std::int32_t>(i * 7919 % options.vocab));
    WriteOptions how;
    how.contiguous = options.contiguous;
    how.compression = options.gzip;
    must(write_trace(path, trace, how));
}

std::string run_name(int i)
{
    return i == 0 ? "run" : fmt::format("run{}", i + 1);
}

/// Both files by several threads, a MB each time.
std::int64_t pread_all(const Options& options)
{
    std::int64_t total = 0;
    for (const char* name : {"base.h5", "run.h5"}) {
        const auto path = options.folder / name;
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat facts {};
        ::fstat(file, &facts);
        std::atomic<std::int64_t> next = 0;
        std::vector<std::jthread> readers;
        for (int i = 0; i < reading_threads(); ++i)
            readers.emplace_back([&] {
                constexpr std::int64_t piece = 1 << 20;
                std::vector<char> buffer(piece);
                for (std::int64_t at; (at = next.fetch_add(piece)) < facts.st_size;)
                    if (::pread(file, buffer.data(), piece, at) <= 0)
                        std::abort();
            });
        readers.clear();
        ::close(file);
        total += facts.st_size;
    }
    return total;
}

/// Drops the files from memory (their pages were written out before).
void make_cold(const Options& options)
{
    for (const char* name : {"base.h5", "run.h5"}) {
        const int file = ::open((options.folder / name).c_str(), O_RDONLY | O_CLOEXEC);
        ::fsync(file);
        ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        ::close(file);
    }
}

struct Stage {
    double best = 0, processor_per_gb = 0; ///< GB/s of the best round, and its processor seconds a GB

    template <class Work>
    void measure(const Work& work)
    {
        const double w = wall(), p = processor();
        const double gigabytes = 1e-9 * static_cast<double>(work());
        const double took = wall() - w;
        if (gigabytes / took <= best)
            return;
        best = gigabytes / took;
        processor_per_gb = (processor() - p) / gigabytes;
    }
};

class Bench {
public:
    explicit Bench(const Options& options) : options_(options)
    {
        base_ = must(open_trace(options.folder / "base.h5"));
        for (int i = 0; i < options.runs; ++i)
            runs_.push_back(must(open_trace(options.folder / (run_name(i) + ".h5"))));
        run_ = runs_.front();
        selection_ = must(make_engine({options.engine, options.threads}));
        const auto alignment = must(align(*base_, *run_));
        pairs_ = alignment.probes;
        bytes_ = static_cast<std::int64_t>(pairs_.size()) * rows().pair_bytes();
    }

    int run()
    {
        std::printf("%s (%s); %zu pairs of %lld ids, %.2f GB; %d threads read\n",
                    std::string(selection_.engine->name()).c_str(), selection_.engine->detail().c_str(), pairs_.size(),
                    static_cast<long long>(base_->probes.n_vocab), 1e-9 * static_cast<double>(bytes_),
                    reading_threads());
        Stage raw, reading, engine, whole;
        for (int round = 0; round < 3; ++round) {
            raw.measure([&] { return pread_all(options_); });
            reading.measure([&] { return read_only(); });
            engine.measure([&] { return compute_only(); });
            whole.measure([&] { return everything(nullptr); });
        }
        print("pread", raw);
        print("reading", reading);
        print("engine", engine);
        print("whole", whole);
        const double slowest = std::min(reading.best, engine.best);
        std::printf("whole / slowest stage: %.1f %%\n", 100 * whole.best / slowest);
        const double shared = reading.processor_per_gb + engine.processor_per_gb;
        std::printf("processor seconds a GB: stages %.3f, whole %.3f\n", shared, whole.processor_per_gb);
        StreamTimes times;
        everything(&times);
        std::printf("one more: %.2f GB/s in %.3f s, bound by %s (reading %.3f s, computing %.3f s)\n",
                    times.gigabytes_per_second(), times.seconds, times.bound(), times.reading, times.computing);
        if (runs_.size() > 1)
            together();
        if (options_.cold)
            cold();
        cancel();
        if (selection_.engine->workers() == 0)
            again();
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        std::printf("peak memory %.0f MiB\n", static_cast<double>(usage.ru_maxrss) / 1024);
        return 0;
    }

private:
    RowPairs rows() const { return {*base_->probes.rows, *run_->probes.rows, pairs_}; }

    static void print(const char* name, const Stage& stage)
    {
        std::printf("%-8s %7.2f GB/s   %.3f processor s/GB\n", name, stage.best, stage.processor_per_gb);
        std::fflush(stdout);
    }

    std::int64_t read_only()
    {
        RowHashes hashes;
        const RowUse nothing{[](const RowBlock&, Engine&) -> Result<void> { return {}; }, {}};
        must(stream_rows(rows(), *selection_.engine, hashes, {}, nothing));
        return bytes_;
    }

    /// The first block again and again, as often as the whole has blocks.
    std::int64_t compute_only()
    {
        const RowPairs all = rows();
        const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(
            selection_.engine->block_bytes() / all.pair_bytes(), 1, static_cast<std::int64_t>(pairs_.size())));
        const std::int64_t side = static_cast<std::int64_t>(count) * all.baseline.row_bytes();
        if (!block_) {
            block_ = must(selection_.engine->allocate(static_cast<std::size_t>(2 * side)));
            const auto bytes = block_->bytes();
            must(all.baseline.read(0, static_cast<std::int64_t>(count), bytes.first(static_cast<std::size_t>(side))));
            must(all.run.read(0, static_cast<std::int64_t>(count), bytes.subspan(static_cast<std::size_t>(side))));
        }
        std::vector<ProbeMetrics> out(count);
        const PairBlock block{{block_->bytes().data(), LogitType::BF16, all.baseline.row_bytes()},
                              {block_->bytes().data() + side, LogitType::BF16, all.run.row_bytes()},
                              static_cast<std::int64_t>(count),
                              static_cast<std::int32_t>(base_->probes.n_vocab)};
        std::int64_t done = 0;
        for (; done < bytes_; done += 2 * side)
            must(selection_.engine->compute(block, out, {}));
        return done;
    }

    std::int64_t everything(StreamTimes* times)
    {
        const auto table = compute();
        if (times)
            *times = must(table)->times;
        else
            must(table);
        return bytes_;
    }

    static ComputeOptions how(bool keep_rows)
    {
        ComputeOptions options;
        options.use_cache = false;
        options.keep_rows = keep_rows;
        return options;
    }

    Result<TablePtr> compute(const std::stop_token& stop = {})
    {
        Job job;
        job.stop = stop;
        return compute_table(base_, run_, *selection_.engine, how(false), job);
    }

    /// All runs along one baseline, and pair after pair. Bytes as they lie in the files, each once.
    void together()
    {
        const std::int64_t row = rows().baseline.row_bytes(), probes = static_cast<std::int64_t>(pairs_.size());
        const std::int64_t all = probes * row * (1 + static_cast<std::int64_t>(runs_.size()));
        Stage once, each;
        for (int round = 0; round < 3; ++round) {
            once.measure([&] {
                for (auto& table : compute_tables(base_, runs_, *selection_.engine, how(false)))
                    must(std::move(table));
                return all;
            });
            each.measure([&] {
                for (const TracePtr& run : runs_)
                    must(compute_table(base_, run, *selection_.engine, how(false)));
                return all;
            });
        }
        print("runs", once);
        print("by pairs", each);
    }

    /// Rows that stayed with the engine.
    void again()
    {
        must(compute_table(base_, run_, *selection_.engine, how(true)));
        for (const auto& [p, q] : {std::pair{base_, run_}, std::pair{run_, base_}}) {
            const double start = wall();
            const auto table = must(compute_table(p, q, *selection_.engine, how(true)));
            std::printf("again, %s: %.2f ms, %.1f %% of the rows were still there\n",
                        p == base_ ? "same way" : "other way", 1e3 * (wall() - start),
                        100 * static_cast<double>(table->times.kept) / static_cast<double>(table->times.bytes));
        }
    }

    void cold()
    {
        Stage raw, whole;
        make_cold(options_);
        raw.measure([&] { return pread_all(options_); });
        make_cold(options_);
        whole.measure([&] { return everything(nullptr); });
        print("cold raw", raw);
        print("cold", whole);
    }

    void cancel()
    {
        double worst = 0;
        for (int i = 0; i < 5; ++i) {
            std::stop_source stop;
            double asked = 0;
            std::jthread user([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(60 + 25 * i));
                asked = wall();
                stop.request_stop();
            });
            const auto ended = compute(stop.get_token());
            const double now = wall();
            user.join();
            if (!ended)
                worst = std::max(worst, now - asked);
        }
        std::printf("cancel answered within %.1f ms (worst of 5)\n", 1e3 * worst);
    }

    Options options_;
    TracePtr base_, run_;
    std::vector<TracePtr> runs_; ///< the first is run_
    EngineSelection selection_;
    std::vector<MatchedProbe> pairs_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<HostBuffer> block_; // after the engine: must not outlive it
};

int usage()
{
    std::fprintf(stderr,
                 "usage: bench_pipeline FOLDER [--gb N] [--vocab N] [--runs N] [--engine cpu|cuda] [--threads N] "
                 "[--contiguous] [--gzip LEVEL] [--cold]\n");
    return 2;
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        const bool more = i + 1 < argc;
        if (name == "--contiguous")
            options.contiguous = true;
        else if (name == "--cold")
            options.cold = true;
        else if (name == "--gb" && more)
            options.gigabytes = std::atof(argv[++i]);
        else if (name == "--vocab" && more)
            options.vocab = std::atoi(argv[++i]);
        else if (name == "--runs" && more)
            options.runs = std::atoi(argv[++i]);
        else if (name == "--threads" && more)
            options.threads = std::atoi(argv[++i]);
        else if (name == "--gzip" && more)
            options.gzip = std::atoi(argv[++i]);
        else if (name == "--engine" && more)
            options.engine = must(parse_engine(argv[++i]));
        else if (options.folder.empty() && name.substr(0, 1) != "-")
            options.folder = name;
        else
            return usage();
    }
    if (options.folder.empty() || options.vocab < 2 || options.runs < 1 || options.gigabytes <= 0)
        return usage();
    std::filesystem::create_directories(options.folder);
    make_file(options, "base", 0);
    for (int i = 0; i < options.runs; ++i)
        make_file(options, run_name(i), 0.15F);
    return Bench(options).run();
}
