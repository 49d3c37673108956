fn main() -> std::process::ExitCode {
    tilelens::main()
}
