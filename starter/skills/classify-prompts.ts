/** How one asks for a label: `{labels}` in a line or `{bullets}` below each other. */
const ends =
  '[ Answer with one word.| Reply only with the label.| Only the label.| Answer with the label only.| Give just the label.|]'

export const sentimentPrompts: readonly string[] = [
  `[Classify|Determine|Detect|Decide|Rate|Judge|What is] the [sentiment|mood|tone|feeling] of [this|the following|the] [text|review|message|comment|sentence][:| as| –] {labels}.${ends}[\n\n|\n| ]{text}`,
  `[Is this|Is the following|Would you call this|Do you find this] [text|review|message|comment|sentence][:|] {labels}?${ends}[\n\n|\n| ]{text}`,
  `{text}[\n\n|\n][Is this|Is that|Is it|Would you call this|Is the text above|How does this sound,] {labels}?${ends}`,
  `{text}[\n\n|\n][Sentiment|Mood|Classify the sentiment|Label|Tone|What is the sentiment|Rate it] ({labels})[:|?|.]${ends}`,
  `[Classify|Label|Rate|Tag|Judge] [this|the following|the] [text|review|message|comment] as {labels}[.|:]${ends}[\n\n|\n| ]{text}`,
  `[Sentiment|Sentiment analysis|Classify|Label]: {text}\n[Labels|Options|Choose from|Classes|Choices]: {labels}.${ends}`,
  `{text}[\n\n|\n][Choose|Pick|Which sentiment is it? Choose] [one|one label|the right label]:{bullets}`,
]

export const intentPrompts: readonly string[] = [
  `[Classify|Determine|Detect|Decide|Find|What is] the [intent|topic|category|request type] of [this|the following|the] [text|message|request|ticket|mail|question][:| as| –] {labels}.${ends}[\n\n|\n| ]{text}`,
  `{text}[\n\n|\n][What is this about|What does the customer want|Which category fits|Which label fits|What is the intent|What kind of message is this|Which one is it]: {labels}?${ends}`,
  `{text}[\n\n|\n][Intent|Category|Topic|Label|Classify the message|Route it|Sort this] ({labels})[:|?|.]${ends}`,
  `[Classify|Label|Tag|Sort|Route|Categorize] [this|the following|the] [message|request|ticket|mail|question] as {labels}[.|:]${ends}[\n\n|\n| ]{text}`,
  `[Message|Customer|Ticket|Request]: {text}\n[Labels|Options|Intents|Categories|Choose from|Topics]: {labels}.${ends}`,
  `{text}[\n\n|\n][Choose|Pick|What is it about? Choose] [one|one label|the right label|the intent]:{bullets}`,
  `[Which of these|Which label|Which category] [fits|describes|matches] [this|the] [message|request|ticket]: {labels}?${ends}[\n\n|\n| ]{text}`,
]
