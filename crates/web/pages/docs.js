// As dark as the screen was chosen to be in this browser, else as the system is.
function isDark() {
  try {
    const { theme } = JSON.parse(localStorage.getItem("rialto.settings")) ?? {};
    if (theme === "dark" || theme === "light") return theme === "dark";
  } catch {
    // A memory that is forbidden or damaged says nothing.
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
document.documentElement.classList.toggle("dark-mode", isDark());

// Shows the description of this very server. Nothing is fetched from elsewhere: no validator, no fonts.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
