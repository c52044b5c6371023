package narrate

// Failures is when something went wrong.
var Failures = failures
