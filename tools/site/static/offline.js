// The search shows lines of the pages that it finds, which a browser reads from a server only: of pages that are files it
// shows the titles.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
