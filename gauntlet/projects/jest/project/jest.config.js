module.exports = {
  testMatch: ["**/tests/**/*.test.ts"],
  transform: { "\\.ts$": "<rootDir>/strip-types.js" },
};
