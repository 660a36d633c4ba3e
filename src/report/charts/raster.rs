//! SVG to PNG, with the font that is embedded here and none of the machine's.
//!
//! So a title may hold letters that the PNG cannot show. They are marked as missing, where a blank would hide that
//! anything was there. The SVG keeps them: whoever views it has more fonts.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use ttf_parser::Face;

use super::paint::{FONT, FONT_FAMILY};

/// Pixels of the PNG for each of the SVG, on each axis.
const ZOOM: f32 = 2.0;
/// Stands for a letter that the font does not have. The font has this one.
const MISSING: char = '\u{FFFD}';

/// A chart's SVG as PNG, two pixels for one on each axis.
///
/// # Panics
///
/// If `svg` is not what this module's charts draw.
pub fn svg_to_png(svg: &str) -> Vec<u8> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options =
        Options { fontdb: Arc::new(fonts), font_family: FONT_FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(&with_missing_marked(svg), &options).expect("charts are valid SVG");
    let size = tree.size();
    let mut pixels = Pixmap::new((size.width() * ZOOM) as u32, (size.height() * ZOOM) as u32)
        .expect("charts are not empty");
    resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().expect("a picture in memory can be encoded")
}

/// The SVG with every letter that the font has no glyph for marked as missing. Its markup is ASCII.
fn with_missing_marked(svg: &str) -> String {
    let font = Face::parse(FONT, 0).expect("the embedded font is one");
    let shown = |letter: char| letter.is_ascii() || font.glyph_index(letter).is_some();
    svg.chars().map(|letter| if shown(letter) { letter } else { MISSING }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_font_does_not_have_is_marked() {
        let marked = with_missing_marked;
        assert_eq!(marked("Zażółć, почему, γιατί … 0 ≤ 1 →"), "Zażółć, почему, γιατί … 0 ≤ 1 →");
        assert_eq!(marked("<text>为什么 🦀</text>\n"), "<text>\u{FFFD}\u{FFFD}\u{FFFD} \u{FFFD}</text>\n");
    }
}
