fn main() -> std::process::ExitCode {
    tilefit::main()
}
