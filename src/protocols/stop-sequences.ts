/** Four times what the chat completions format asks for; clients send two or three. Every piece of an answer is compared with each. */
export const stopSequencesMax = 16

/** In characters. The end of an answer that may yet become a stop sequence is held back, so a long one makes a stream stutter. */
export const stopSequenceLengthMax = 1_024
