// What a schema may cost. The first four are the limits of the vendor's strict
// mode or above them; the others keep the compiler within 50 ms of CPU and its
// grammars within what the native parser reads (it fails at 2,000 repetitions).

/** Subschemas inside one another, as written; a `$ref` begins again. The vendor allows 10. */
export const depthMax = 32
/** The vendor's limit. */
export const propertiesMax = 5_000
/** The vendor's limit, over all enums of a schema. */
export const enumValuesMax = 1_000
/** The vendor's limit on all names, enum values and constants together. */
export const textCharactersMax = 120_000
/** Subschemas with every `$ref` written out; a recursion counts once. */
export const expandedNodesMax = 20_000
/** Half of what the native parser refuses. */
export const repetitionMax = 1_000
/** Bounded repetitions inside one another, multiplied. */
export const repetitionProductMax = 10_000
/**
 * Characters of the shortest valid answer: bounds from below multiply inside one another. Such an
 * answer takes 50,000 tokens, and the longest names and constants allowed above still fit into it.
 */
export const leastCharactersMax = 200_000
/** Schemas that one value must satisfy at once, by `allOf` and `$ref`; a merge of ten is already unusual. */
export const partsMax = 200
/** Steps in patterns, comparisons and merges, about 30 ms of them; what clients send takes a tenth. */
export const workMax = 250_000
/** The same for all the schemas of a request: an agent's hundred tools take a tenth of it. */
export const workOfAllMax = 10 * workMax
/** What each of several schemas for one value counts as in that. Values of one schema are as many as were written. */
export const mergeWork = 30
