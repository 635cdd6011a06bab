//! The names that kernels have in an image: their own if they are `extern "C"`, else what a C++ compiler makes of them.

/// The name in an image of a function that is no template: its own, or the mangled one if only one function has it. `name` may
/// be qualified by namespaces.
pub fn find(image: &[u8], name: &str) -> Option<String> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let names = || image.split(|byte| !is_word(byte)).filter(|word| !word.is_empty());
    if names().any(|word| word == name.as_bytes()) {
        return Some(name.to_owned());
    }
    let start = mangled_start(name);
    let mut found: Vec<&[u8]> = names().filter(|word| word.starts_with(start.as_bytes())).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [one] => String::from_utf8(one.to_vec()).ok(),
        _ => None,
    }
}

/// How the mangled name of a function begins, whatever its parameters are.
fn mangled_start(name: &str) -> String {
    let parts: Vec<String> = name
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| format!("{}{part}", part.len()))
        .collect();
    match parts.as_slice() {
        [one] => format!("_Z{one}"),
        parts => format!("_ZN{}E", parts.concat()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn a_name_is_found_as_it_is_or_mangled_if_only_one_fits() {
        let image = b"\0plain\0_Z5scalePffi\0.text._Z5scalePffi\0_Z4twicef\0_Z4twiced\0_Z6scale2f\0_ZN2ns1kEPf\0";
        assert_eq!(find(image, "plain").as_deref(), Some("plain"));
        assert_eq!(find(image, "scale").as_deref(), Some("_Z5scalePffi"));
        assert_eq!(find(image, "ns::k").as_deref(), Some("_ZN2ns1kEPf"));
        assert_eq!(find(image, "::scale").as_deref(), Some("_Z5scalePffi"));
        assert_eq!(find(image, "twice"), None);
        assert_eq!(find(image, "absent"), None);
    }
}
