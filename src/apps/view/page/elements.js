// Elements made by the script. What comes from files goes in as text only.

/**
 * @param {string} tag
 * @param {object} properties of the element; `class` and names with a dash are attributes
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class' || name === 'role' || name.includes('-')) {
      element.setAttribute(name, value);
    } else {
      element[name] = value;
    }
  }
  element.append(...children);
  return element;
}

/** The element of the page's body with this id. */
export const byId = (id) => document.getElementById(id);
