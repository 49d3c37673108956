use std::path::PathBuf;
use std::process::ExitCode;

use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use clap::ValueEnum;
use tilefit_analysis::ide::MemoryMap;
use tilefit_analysis::ide::memory_map::scale::{Room, Scale};
use tilefit_analysis::ide::memory_map::text::{Kind, Line};
use tilefit_analysis::ide::memory_map::{html, svg, text};

use super::Planning;
use super::source::{self, Source};
use super::which::{Kernels, Which, no_kernels};
use crate::disk;
use crate::terminal::{complain, fail, plain, print, print_styled};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file, and one of its kernels; without a kernel all of them
    #[arg(value_name = "FILE[:KERNEL]")]
    what: String,
    #[command(flatten)]
    kernels: Kernels,
    /// File for the map; standard output without it
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Pixels, or characters of text [default: 960 pixels, or the width of the terminal]
    #[arg(long)]
    width: Option<u16>,
    /// Draw all memories in one scale, so that a byte is as wide in each of them
    #[arg(long)]
    one_scale: bool,
    /// Ask the compiler that is installed, and draw what it says where tilefit has bounds. Imports the file
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    asking: source::Python,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    /// A self-contained HTML page
    Html,
    /// A picture of one kernel, for light and dark
    Svg,
}

const PIXELS: u16 = 960;
/// Of what is no terminal.
const COLUMNS: u16 = 80;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match drawn(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Errors are sentences for the user.
fn drawn(arguments: &Arguments) -> Result<(), String> {
    let which = Which::of(&arguments.what).and(&arguments.kernels);
    let config = arguments.planning.config_of(&which.path);
    let source = match arguments.confirm {
        true => {
            let mut asking = arguments.asking.of(&config, &arguments.kernels)?;
            Source::read_and_confirm(&which.path, &config, &mut asking)?
        }
        false => Source::read(&which.path, &config)?,
    };
    let all = source.ask(|analysis, file| analysis.memory_maps(file));
    let maps: Vec<MemoryMap> = which.among(&all, |map| &map.kernel)?.into_iter().cloned().collect();
    if maps.is_empty() && !matches!(arguments.format, Format::Svg) {
        complain(&no_kernels(&which.path));
    }
    let scale = if arguments.one_scale { Scale::One } else { Scale::Own };
    let drawing = match arguments.format {
        Format::Text => {
            let drawings = maps.iter().map(|map| text::draw(map, columns(arguments.width).into(), scale));
            drawings.map(|lines| lines.iter().map(coloured).collect::<String>()).collect::<Vec<_>>().join("\n")
        }
        Format::Html => html::page(&which.path.file_name().unwrap_or_default().to_string_lossy(), &maps, scale),
        Format::Svg => match maps.as_slice() {
            [map] => {
                let width = arguments.width.unwrap_or(PIXELS).into();
                svg::file(map, Room { width, height: None, scale })
            }
            [] => return Err(no_kernels(&which.path)),
            maps => {
                let file = which.path.display();
                let names: Vec<_> = maps.iter().map(|map| format!("`{file}:{}`", map.kernel)).collect();
                return Err(format!("SVG output shows one kernel. Pick one: {}", names.join(" or ")));
            }
        },
    };
    match &arguments.output {
        None if arguments.format == Format::Text => print_styled(&drawing),
        None => print(&drawing),
        Some(path) => {
            let plain = anstream::adapter::strip_str(&drawing).to_string();
            disk::write_named(path, &plain).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// As asked, else as wide as the terminal is now: `COLUMNS` is not exported by shells, and old after a resize.
fn columns(asked: Option<u16>) -> u16 {
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0);
    asked.or_else(terminal).unwrap_or(COLUMNS)
}

fn coloured(line: &Line) -> String {
    if line.spans.iter().all(|span| span.kind == Kind::Plain) {
        return plain(&line.text()).into_owned() + "\n";
    }
    let spans = line.spans.iter().map(|span| {
        let style = style(span.kind);
        format!("{style}{}{style:#}", plain(&span.text))
    });
    let text: String = spans.collect();
    text.trim_end().to_owned() + "\n"
}

/// Those of the buffers, by turns.
const COLOURS: [AnsiColor; svg::COLOURS] =
    [AnsiColor::Blue, AnsiColor::Green, AnsiColor::Yellow, AnsiColor::Magenta, AnsiColor::Cyan, AnsiColor::BrightBlue];

fn style(kind: Kind) -> Style {
    match kind {
        Kind::Plain => Style::new(),
        Kind::Copy => AnsiColor::Cyan.on_default(),
        Kind::Title => Style::new().effects(Effects::BOLD),
        Kind::OverTitle | Kind::Capacity => AnsiColor::BrightRed.on_default().effects(Effects::BOLD),
        Kind::Line | Kind::Address | Kind::Free | Kind::Reserved => Style::new().effects(Effects::DIMMED),
        Kind::Waste => AnsiColor::BrightBlack.on_default(),
        Kind::Tile(colour) => COLOURS[colour % COLOURS.len()].on_default(),
        Kind::Label(colour) => AnsiColor::Black.on(COLOURS[colour % COLOURS.len()]),
        Kind::Over => AnsiColor::BrightRed.on_default(),
        Kind::Peak => AnsiColor::Yellow.on_default(),
    }
}
