//! SVG to PNG, with the font that is embedded here and none of the machine's.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::paint::{FONT, FONT_FAMILY};

/// Pixels of the PNG for each of the SVG, on each axis.
const ZOOM: f32 = 2.0;

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
    let tree = Tree::from_str(svg, &options).expect("charts are valid SVG");
    let size = tree.size();
    let mut pixels = Pixmap::new((size.width() * ZOOM) as u32, (size.height() * ZOOM) as u32)
        .expect("charts are not empty");
    resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().expect("a picture in memory can be encoded")
}
