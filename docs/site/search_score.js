/* Order the results of the search. Sphinx appends this file to the data of its search; WORDS are search_words.txt. */
let wordsOfQuery = [];
const parseQuery = Search._parseQuery;
// `np.sort` and `cp.cuda.Stream` find `PyGPU.sort` and `PyGPU.Stream`: the name of the library is left out.
Search._parseQuery = (query) => {
  const name = query.replace(/\b(np|numpy|cp)\.(cuda\.)?/gi, "");
  wordsOfQuery = splitQuery(name.toLowerCase().trim());
  return parseQuery(name);
};
// Pages that explain come before pages that list or argue.
const LESS = [["results/", 12], ["changes_in", 12], ["performance", 8], ["design/", 6], ["bindings/", 5], ["gallery/", 5]];
Scorer.score = ([page, title, , , score, , kind]) => {
  for (const [start, less] of LESS) if (page.startsWith(start)) score -= less;
  if (kind === SearchResultKind.object) {
    const last = title.toLowerCase().split(".").pop();
    const asked = wordsOfQuery.at(-1) ?? "";
    // `PyGPU.sort` comes before methods named `sort`.
    if (title.toLowerCase() === `pygpu.${wordsOfQuery.filter((word) => word !== "pygpu").join(".")}`) score += 10;
    score += last === asked ? 20 : last.startsWith(asked) ? 0 : -10;
    return page.startsWith("api/cupy") && !wordsOfQuery.some((word) => word.startsWith("cupy")) ? score - 15 : score;
  }
  if (page.startsWith("api/")) score -= 6;
  const words = WORDS[page] ?? [];
  return wordsOfQuery.every((word) => words.includes(word)) ? score + 15 : score;
};
