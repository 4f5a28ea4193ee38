/** Asked with a schema on the request: the prompt need not say JSON. `{fields}` is `the name and the date` or the like. */
export const schemaPrompts: readonly string[] = [
  '[Please |Can you |Could you |Now |][extract|get|pull|take|collect|read|fetch] {fields} [from|out of] [this|the following|the|the text of this] [text|sentence|message|note|passage|line][:|.][ |\n|\n\n]{text}',
  '[Please |Can you |Could you |][find|pick out|identify|look up|spot|list] {fields} in [this|the following|the] [text|sentence|message|note|passage|mail][:|.][ |\n|\n\n]{text}',
  '[Extract|Find|Get|Give me|Return|I need|Pull out] {fields}[:|.| please.][ |\n|\n\n]{text}',
  '[Extract|Get|Pull out] the [data|fields|information|details|values] ({fields}) [from|in] [this|the following|the] [text|sentence|message|note][:|.][ |\n|\n\n]{text}',
  '[Extract the data|Extract the fields|Fill in the fields|Read the data]: {fields}.[ |\n\n|\n][Text: |Message: |Input: |]{text}',
  '{text}[\n\n|\n][Extract|Find|Get|Pull out|Give me|Return|Please extract|List] {fields}[.|| from this text.| from the text above.| from that.]',
  '{text}[\n\n|\n][What is|What are|Tell me|Which are|I need] {fields} [here|in this text|in that message|in the text above|in it][?|]',
  '[Text|Message|Note|Input]: {text}\n[Fields|Wanted|Extract|Find|Needed]: {fields}',
  '[From|Out of|In] the [text|sentence|message|note] below[, please|,] [extract|find|get|read] {fields}.[\n\n|\n]{text}',
  '"{text}"[\n| – | ][extract|find|get|give me|please extract] {fields}',
  '[Parse|Read|Analyse|Process] this [text|message|note|sentence] [and return|and give me|and extract|for] {fields}[:|.][ |\n|\n\n]{text}',
]

/** Asked without a schema: JSON with the keys that `{keys}` lists. */
export const keyPrompts: readonly string[] = [
  '[Please |Can you |Could you |][extract|return|get|give me|pull out] {keys} [from|out of] [this|the following|the] [text|sentence|message|note] as [JSON|a JSON object|one JSON object|json][:|.][ |\n|\n\n]{text}',
  '[Extract|Read|Get|Pull] the [data|information|details|values] [from|out of] [this|the following|the] [text|sentence|message|note] [as JSON|into JSON|as a JSON object|in JSON] with the [keys|fields|properties] {keys}[:|.][ |\n|\n\n]{text}',
  '[Return|Give me|Answer with|Reply with|Write|Produce] [JSON|a JSON object|only JSON|a single JSON object] with [the keys|the fields|the properties|these keys:|exactly the keys] {keys}[.| for this text.| for the text below.][ |\n|\n\n][Text: |]{text}',
  '{text}[\n\n|\n][Extract|Return|Give me|Write|Put] {keys} [as JSON|in JSON|as a JSON object|as json only|into a JSON object][.|]',
  '{text}[\n\n|\n][Turn this into|Convert this to|Make this|Transform it into] [JSON|a JSON object] with [the keys|the fields|keys|fields] {keys}[.|]',
  '[Convert|Turn|Transform|Put] [this|the following|the] [text|sentence|message|note] [into|to] [JSON|a JSON object] ([keys|fields|with keys|with]: {keys})[:|.][ |\n|\n\n]{text}',
  '[Text|Message|Note|Input]: {text}\n[JSON keys|Keys|JSON fields|Keys of the JSON]: {keys}[\nAnswer in JSON.|\nJSON only.|\nReply with JSON.]',
  '[Answer|Reply|Respond] [only in JSON|in JSON|with JSON only|with nothing but JSON]. [Extract|Keys:|Find|Fields:] {keys}.[ |\n|\n\n]{text}',
  '[JSON please|As JSON|In JSON|JSON]: {keys} [from|in|out of] "{text}"',
  '[What are|Find|Look for|List] {keys} in [this|the following] [text|message|sentence|note]? [Answer in JSON|JSON only|Reply with a JSON object|Use JSON].[ |\n|\n\n]{text}',
  '[Make|Build|Create] [JSON|a JSON object] [from|out of] [this|the following] [text|sentence|note][, keys| with keys|, with the keys] {keys}[:|.][ |\n|\n\n]{text}',
]

/** Asked without a schema, with the shape to fill in. */
export const shapePrompts: readonly string[] = [
  '[Extract|Return|Give me|Fill in|Read|Get] the [data|information|details|values] [from|out of|in] [this|the following|the] [text|sentence|message|note] [in this form|like this|in this format|as]: {shape}[ |\n|\n\n]{text}',
  '[Answer|Reply|Respond] [only |][with|as|in] JSON [like|of the form|in the form|shaped like|of this shape:] {shape}[.|][ |\n|\n\n][Text: |]{text}',
  '{text}[\n\n|\n][Fill in|Complete|Return|Extract as|Answer in the form|Give me] {shape}[|.]',
  '[Use|Take|Follow] [this|the] [format|form|shape|JSON]: {shape}[\n|\n\n| ][Text: |Input: |Message: |]{text}',
]
