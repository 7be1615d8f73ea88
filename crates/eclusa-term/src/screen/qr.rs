//! A link as a QR code of blocks, for the camera of a phone.

use qrcode::{Color, EcLevel, QrCode, types::QrResult};

use super::Paint;

/// Light around the code, in modules.
const QUIET: usize = 2;

/// A longer text makes a code that no terminal has room for.
const MAX_BYTES: usize = 300;

/// The code of a text, in lines for a terminal with colours; nothing where there are none, or the text is too long.
pub fn lines(text: &str, paint: Paint) -> Option<Vec<String>> {
    if !paint.0 || text.len() > MAX_BYTES {
        return None;
    }
    let code: QrResult<QrCode> = QrCode::with_error_correction_level(text, EcLevel::L);
    let code = code.ok()?;
    let (size, modules) = (code.width(), code.to_colors());
    let is_dark = |x: usize, y: usize| {
        let inside = x.checked_sub(QUIET).zip(y.checked_sub(QUIET));
        let inside = inside.filter(|(x, y)| *x < size && *y < size);
        inside.is_some_and(|(x, y)| modules.get(y * size + x) == Some(&Color::Dark))
    };
    let side = size + 2 * QUIET;
    let row = |y: usize| -> String {
        let block = |x: usize| match (is_dark(x, y), is_dark(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        let blocks: String = (0..side).map(block).collect();
        format!("\x1b[30;107m{blocks}\x1b[0m")
    };
    Some((0..side).step_by(2).map(row).collect())
}

#[cfg(test)]
mod tests;
