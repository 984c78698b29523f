const { transformSync } = require("rolldown/utils");

exports.process = (text, path) => ({ code: transformSync(path, text).code });
