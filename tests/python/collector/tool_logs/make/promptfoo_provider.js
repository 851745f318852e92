// Answers from a list: cut off once, filtered once, failed once, and once as an object.
let asked = 0;
module.exports = class {
  constructor(options) { this.label = options.label; }
  id() { return 'canned'; }
  async callApi(prompt) {
    asked += 1;
    if (asked === 2) return { output: 'He rea', finishReason: 'length', tokenUsage: { prompt: 5, completion: 2, total: 7 } };
    if (asked === 3) return { output: '', finishReason: 'content_filter', guardrails: { flagged: true } };
    if (asked === 6) return { error: 'the service is closed' };
    if (asked === 7) return { output: { answer: 'as an object', n: asked } };
    return { output: `Answer ${asked}. She reads, “quietly”,\nand writes.`, finishReason: 'stop', tokenUsage: { prompt: 5, completion: 9, total: 14 }, cost: 0.001 };
  }
};
