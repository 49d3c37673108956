#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tilefit_tests::fuzz::cycles(input));
