for (const block of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
  });
  block.parentElement.append(button);
}
