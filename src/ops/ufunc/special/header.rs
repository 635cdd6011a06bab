//! Defines the C++ headers of special functions. Each lists the headers that it uses.

/// Describes a header, whose text has no include directives. A kernel contains each header of its functions once.
#[derive(Debug)]
pub struct Header {
    /// The text of the header.
    pub text: &'static str,
    /// The headers whose functions the text of this header calls.
    pub uses: &'static [&'static Self],
}

impl Header {
    /// Returns a header that uses other headers.
    pub const fn of(text: &'static str, uses: &'static [&'static Self]) -> Self {
        Self { text, uses }
    }
}

/// Adds the texts of headers to a list, each after the texts that it uses, unless the list contains them already.
pub fn add_texts(headers: &[&'static Header], texts: &mut Vec<&'static str>) {
    for header in headers {
        add_texts(header.uses, texts);
        if !texts.contains(&header.text) {
            texts.push(header.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FIRST: Header = Header::of("first ", &[]);
    static SECOND: Header = Header::of("second ", &[&FIRST]);
    static THIRD: Header = Header::of("third ", &[&FIRST, &SECOND]);

    #[test]
    fn each_header_text_occurs_once_after_the_texts_it_uses() {
        let mut texts = Vec::new();
        add_texts(&[&THIRD, &SECOND], &mut texts);
        assert_eq!(texts.concat(), "first second third ");
    }
}
