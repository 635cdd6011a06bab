//! Finds the names of kernels in an image: plain names for `extern "C"` kernels, otherwise mangled names.

fn words(image: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    image.split(move |byte| !is_word(byte)).filter(|word| !word.is_empty())
}

/// Returns the name that a function, not a template, has in an image: the mangled name if exactly one matches,
/// otherwise `name` itself. `name` may be qualified by namespaces.
pub fn find(image: &[u8], name: &str) -> Option<String> {
    let plain = || words(image).any(|word| word == name.as_bytes()).then(|| name.to_owned());
    find_mangled(image, name).or_else(plain)
}

/// Returns the mangled name of a function in an image, if exactly one mangled name matches.
pub fn find_mangled(image: &[u8], name: &str) -> Option<String> {
    let start = mangled_start(name);
    let mut found: Vec<&[u8]> = words(image).filter(|word| word.starts_with(start.as_bytes())).collect();
    found.sort_unstable_by_key(|word| word.len());
    let (first, rest) = found.split_first()?;
    // A further symbol of a function begins with the function's complete mangled name and `_` or `$`, as in
    // `_Z1kPi_param_0`. In the mangled name of an overload, the characters after the common beginning denote a
    // parameter type instead.
    let belongs = |word: &&[u8]| matches!(word.strip_prefix(*first), Some([] | [b'_' | b'$', ..]));
    if rest.iter().all(belongs) { String::from_utf8(first.to_vec()).ok() } else { None }
}

/// Returns all mangled function names in an image, each once.
pub fn mangled_names(image: &[u8]) -> Vec<String> {
    let mut found: Vec<&[u8]> = words(image).filter(|word| word.starts_with(b"_Z")).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|word| String::from_utf8(word.to_vec()).ok()).collect()
}

/// Returns the beginning of a function's mangled name, which is the same for all parameter types.
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
    fn symbol_is_found_by_plain_or_unique_mangled_name() {
        let image = b"\0plain\0_Z5scalePffi\0.text._Z5scalePffi\0_Z5scalePffi_param_0\0_Z4twicef\0_Z4twiced\0_Z6scale2f\0_ZN2ns1kEPf\0";
        assert_eq!(find(image, "plain").as_deref(), Some("plain"));
        assert_eq!(find(image, "scale").as_deref(), Some("_Z5scalePffi"));
        assert_eq!(find(image, "ns::k").as_deref(), Some("_ZN2ns1kEPf"));
        assert_eq!(find(image, "::scale").as_deref(), Some("_Z5scalePffi"));
        assert_eq!(find(image, "twice"), None);
        assert_eq!(find(image, "absent"), None);
    }
}
